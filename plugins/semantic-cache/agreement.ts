// Tests whether a fresh answer agrees with the stored one: equal words, or close embeddings.
const CLOSE = 0.9
/** Characters compared of each answer, UTF-16 units: embedders accept no more. */
const MAX_CHARS = 8000

/** @param embed vectors of length 1; null where there are none. */
export async function agree(
  kept: string,
  fresh: string,
  embed: (texts: readonly string[]) => Promise<readonly Float32Array[] | null>,
): Promise<boolean | null> {
  if (plain(kept) === plain(fresh)) return true
  const vectors = await embed([kept.slice(0, MAX_CHARS), fresh.slice(0, MAX_CHARS)])
  const [a, b] = vectors ?? []
  return a === undefined || b === undefined ? null : cosine(a, b) >= CLOSE
}

function plain(text: string): string {
  return text
    .normalize('NFKC')
    .toLowerCase()
    .replace(/[\p{P}\s]+/gu, ' ')
    .trim()
}

function cosine(a: Float32Array, b: Float32Array): number {
  return a.reduce((sum, value, index) => sum + value * (b[index] ?? 0), 0)
}
