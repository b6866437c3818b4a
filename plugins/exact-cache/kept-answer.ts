// A cached answer: the bytes that were sent, and their cost.
import type { CachedCall } from '../../core/types/request/context.ts'

export interface KeptAnswer {
  /** Epoch ms. */
  readonly at: number
  readonly ttlMs: number
  readonly contentType: string
  readonly body: Uint8Array
  readonly call: CachedCall
}

/**
 * Returns false when the answer has expired or is older than the request accepts. A clock that was set back never makes an answer fresh.
 */
export function isFresh({ at, ttlMs }: KeptAnswer, maxAgeMs: number, now: number): boolean {
  const age = now - at
  return age >= 0 && age < Math.min(ttlMs, maxAgeMs)
}
