// Compares texts without a model: equal after normalisation, or by the words that they share.

const WORD = /[\p{L}\p{N}]+/gu
/** UTF-16 units of each text that are compared. */
const MAX_CHARS = 64 * 1024

/** Returns the text without differences of case, width and white space. */
export function normalised(text: string): string {
  return text.normalize('NFKC').toLowerCase().replace(/\s+/gu, ' ').trim()
}

/** Returns the harmonic mean of precision and recall over words, 0 to 1; 1 for two texts without words. */
export function tokenF1(served: string, other: string): number {
  const [a, b] = [wordsOf(served), wordsOf(other)]
  if (a.length === 0 && b.length === 0) return 1
  const left = new Map<string, number>()
  for (const word of a) left.set(word, (left.get(word) ?? 0) + 1)
  let shared = 0
  for (const word of b) {
    const count = left.get(word) ?? 0
    if (count === 0) continue
    left.set(word, count - 1)
    shared++
  }
  return (2 * shared) / (a.length + b.length)
}

function wordsOf(text: string): string[] {
  return normalised(text.slice(0, MAX_CHARS)).match(WORD) ?? []
}
