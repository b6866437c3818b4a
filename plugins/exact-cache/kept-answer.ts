// An answer that is kept: the bytes that were sent, and what they had cost.
import type { CachedCall } from '../../core/types/context.ts'

export interface KeptAnswer {
  /** Epoch ms. */
  readonly at: number
  readonly ttlMs: number
  readonly contentType: string
  readonly body: Uint8Array
  readonly call: CachedCall
}

/** Neither past its own time nor older than who asks will take; a clock that was set back makes nothing young. */
export function isFresh({ at, ttlMs }: KeptAnswer, maxAgeMs: number, now: number): boolean {
  const age = now - at
  return age >= 0 && age < Math.min(ttlMs, maxAgeMs)
}
