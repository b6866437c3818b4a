// Suggests the name that the user probably wanted to write.

/** Returns the known name that differs by one letter, or by two in a word of at least eight; null when there is none. */
export function closest(word: string, names: Iterable<string>): string | null {
  let best: string | null = null
  let least = word.length < 3 ? 0 : word.length < 8 ? 1 : 2
  for (const name of names) {
    const letters = distance(name, word)
    if (letters > least || (best !== null && letters === least)) continue
    least = letters
    best = name
  }
  return best
}

/** Levenshtein distance that counts a swap of two adjacent letters as one change. */
function distance(a: string, b: string): number {
  const rows = Array.from({ length: a.length + 1 }, (_, i) => Array.from({ length: b.length + 1 }, (_, j) => (i === 0 ? j : i)))
  const at = (i: number, j: number) => rows[i]?.[j] ?? 0
  for (let i = 1; i <= a.length; i++)
    for (let j = 1; j <= b.length; j++) {
      const change = at(i - 1, j - 1) + (a[i - 1] === b[j - 1] ? 0 : 1)
      const isSwap = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]
      const swap = isSwap ? at(i - 2, j - 2) + 1 : Number.POSITIVE_INFINITY
      ;(rows[i] as number[])[j] = Math.min(at(i - 1, j) + 1, at(i, j - 1) + 1, change, swap)
    }
  return at(a.length, b.length)
}
