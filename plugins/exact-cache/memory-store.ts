// Stores answers in this process, limited in number and bytes; the least recently used are removed first.
import { isFresh, type KeptAnswer } from './kept-answer.ts'

const MAX_ANSWERS = 1000
const MAX_BYTES = 64 * 1024 * 1024
/** Bytes of an answer besides its body: key, bill, objects. */
const OVERHEAD = 1024

export interface MemoryStore {
  /** Returns answers by index in the bucket, with holes for free places. */
  find(key: string): readonly (KeptAnswer | undefined)[]
  keep(key: string, index: number, answer: KeptAnswer): void
  /** Removes expired answers. */
  sweep(now: number): void
  clear(): void
  readonly answers: number
  readonly bytes: number
}

export function memoryStore(maxAnswers = MAX_ANSWERS, maxBytes = MAX_BYTES): MemoryStore {
  const buckets = new Map<string, (KeptAnswer | undefined)[]>()
  let answers = 0
  let bytes = 0

  const drop = (key: string): void => {
    for (const answer of buckets.get(key) ?? []) count(answer, -1)
    buckets.delete(key)
  }
  const count = (answer: KeptAnswer | undefined, sign: 1 | -1): void => {
    if (answer === undefined) return
    answers += sign
    bytes += sign * (answer.body.length + OVERHEAD)
  }

  return {
    find(key) {
      const bucket = buckets.get(key)
      if (bucket === undefined) return []
      buckets.delete(key)
      buckets.set(key, bucket)
      return bucket
    },
    keep(key, index, answer) {
      const bucket = buckets.get(key) ?? []
      count(bucket[index], -1)
      bucket[index] = answer
      count(answer, 1)
      buckets.delete(key)
      buckets.set(key, bucket)
      for (const oldest of buckets.keys()) {
        if (answers <= maxAnswers && bytes <= maxBytes) break
        drop(oldest)
      }
    },
    sweep(now) {
      for (const [key, bucket] of buckets)
        if (!bucket.some((answer) => answer !== undefined && isFresh(answer, answer.ttlMs, now))) drop(key)
    },
    clear() {
      for (const key of [...buckets.keys()]) drop(key)
    },
    get answers() {
      return answers
    },
    get bytes() {
      return bytes
    },
  }
}
