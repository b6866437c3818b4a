// A deterministic substitute for an embedding model, for tests and figures: words, pairs of words and groups of letters, hashed into a
// vector. It knows no meanings. It finds similar spelling, weights numbers, negations and rare words, and rarely recognises a rewording.
// A real model finds more rewordings, and confuses more texts that only look alike. So figures made with it describe the cache's
// mechanism, not any vendor.
export interface EmbedderOptions {
  readonly dimensions?: number
  /** Length of a random vector that is added to each vector of length 1: an unstable embedder. */
  readonly noise?: number
  /** Length of a fixed vector that is added to all: an embedder that finds all texts similar. */
  readonly collapse?: number
  readonly seed?: number
}

export type LocalEmbedder = (text: string) => Float32Array

const COMMON = new Set(
  'a an and are as at be by can could do does for from hello how i if in is it may me my of on or please should tell thanks that the there this to was way what when where which who why will with you'.split(
    ' ',
  ),
)
const TELLING = new Set('not no non without never none nor neither before after'.split(' '))

export function localEmbedder({ dimensions = 1024, noise = 0, collapse = 0, seed = 1 }: EmbedderOptions = {}): LocalEmbedder {
  const random = seeded(seed)
  const common = directionOf(dimensions, seeded(seed + 1))
  return (text) => {
    const vector = unit(features(text, dimensions))
    const wavering = directionOf(dimensions, random)
    return unit(vector.map((value, i) => value + noise * (wavering[i] as number) + collapse * (common[i] as number)))
  }
}

function features(text: string, dimensions: number): Float32Array {
  const vector = new Float32Array(dimensions)
  const add = (feature: string, weight: number): void => {
    const hash = hashOf(feature)
    const at = hash % dimensions
    vector[at] = (vector[at] as number) + (hash & 0x10000000 ? weight : -weight)
  }
  const words = text.toLowerCase().match(/\p{L}+|\p{N}+/gu) ?? []
  const content = words.filter((word) => !COMMON.has(word))
  for (const word of words) add(`w:${word}`, weightOf(word))
  for (let i = 1; i < content.length; i++) add(`p:${content[i - 1]} ${content[i]}`, 0.5)
  for (const word of content) for (let i = 0; i + 3 <= word.length; i++) add(`l:${word.slice(i, i + 3)}`, 0.25)
  return vector
}

function weightOf(word: string): number {
  if (COMMON.has(word)) return 0.1
  if (TELLING.has(word) || /\p{N}/u.test(word)) return 1.6
  return word.length > 4 ? 1 : 0.8
}

function directionOf(dimensions: number, random: () => number): Float32Array {
  return unit(Float32Array.from({ length: dimensions }, () => random() + random() + random() + random() - 2))
}

function unit(vector: Float32Array): Float32Array {
  let square = 0
  for (const value of vector) square += value * value
  return square === 0 ? vector : vector.map((value) => value / Math.sqrt(square))
}

/** FNV-1a. */
function hashOf(text: string): number {
  let hash = 0x811c9dc5
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193) >>> 0
  return hash
}

/** Mulberry32: the same numbers in [0, 1) for the same seed. */
export function seeded(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

export function cosine(a: Float32Array, b: Float32Array): number {
  let sum = 0
  for (let i = 0; i < a.length; i++) sum += (a[i] as number) * (b[i] as number)
  return sum
}
