// `weighted`: one proportional random draw, then the others by weight. Weight 0 means: only when the others fail.

interface Weighted {
  readonly target: { readonly weight: number }
}

/** @param random returns a number in [0, 1). */
export function drawn<T extends Weighted>(list: readonly T[], random: () => number): T[] {
  const first = list[winner(list, random())]
  if (first === undefined) return []
  return [first, ...byWeight(list).filter((one) => one !== first)]
}

/** Sorts by weight, stable. */
export function byWeight<T extends Weighted>(list: readonly T[]): T[] {
  return [...list].sort((a, b) => b.target.weight - a.target.weight)
}

/** Returns each target's probability of the first place, by position in the list. */
export function probabilities(list: readonly Weighted[]): number[] {
  const total = list.reduce((sum, { target }) => sum + target.weight, 0)
  return list.map(({ target }) => (total > 0 ? target.weight / total : 1 / list.length))
}

function winner(list: readonly Weighted[], draw: number): number {
  let left = draw
  let last = 0
  for (const [index, probability] of probabilities(list).entries()) {
    if (probability === 0) continue
    left -= probability
    last = index
    if (left < 0) break
  }
  return last
}
