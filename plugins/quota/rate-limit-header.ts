// The words of one window's headers, and what they mean.
import { durationMs } from '../../core/errors/retry-hint.ts'

export type RateLimitHeader = Partial<Record<'limit' | 'remaining' | 'reset' | 'status' | 'utilization', string>>

const MAX_AHEAD_MS = 31 * 24 * 3_600_000

/** Azure sends -1 for what it does not know. */
export function count(text: string | undefined): number | null {
  return text !== undefined && /^\s*\d{1,15}(?:\.\d{1,9})?\s*$/.test(text) ? Number(text) : null
}

/** A duration, seconds, epoch seconds, epoch ms or a date, by form and size. */
export function resetAt(text: string | undefined, now: number): number | null {
  if (text === undefined) return null
  const plain = count(text)
  const ahead = plain === null || plain < 1e6 ? durationMs(text) : null
  const at = ahead !== null ? now + ahead : plain === null ? Date.parse(text) : plain < 1e11 ? plain * 1000 : plain
  return Number.isFinite(at) && at >= now && at - now <= MAX_AHEAD_MS ? Math.round(at) : null
}
