// A token bucket that begins full. The level is kept in 60,000ths of a token: whole numbers, as one ms adds `perMinute` of them.

export interface TokenBucket {
  level: number
  /** Ms of the last grant. */
  at: number
}

const MINUTE = 60_000

/** The level now; a changed limit holds at once and alters nothing that was granted. */
export function levelAt({ level, at }: TokenBucket, now: number, perMinute: number, burst: number): number {
  return Math.min(burst * MINUTE, level + Math.max(0, now - at) * perMinute)
}

/**
 * Ms until a bucket at `level` has `cost` tokens; 0 = now. A cost of 0 asks whether one is there. A cost above the burst
 * waits for a full bucket and leaves a debt.
 */
export function waitForTokens(level: number, perMinute: number, burst: number, cost: number): number {
  const missing = Math.min(Math.max(cost, 1), burst) * MINUTE - level
  if (burst > 0 && missing <= 0) return 0
  return burst > 0 && perMinute > 0 ? Math.ceil(missing / perMinute) : MINUTE
}
