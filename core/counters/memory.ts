// Counters of one process: sliding windows, token buckets, held slots, once-flags. They are synchronous and bounded by expiry. Windows
// longer than a minute are also limited in number, because callers may choose their length.
import type { Clock, Counters, TakeResult } from '../types/ports/ports.ts'

const MINUTE = 60_000
/** Above this number the least recently used windows are reset. */
const MAX_LONG_WINDOWS = 100_000
const GRANTED: TakeResult = Object.freeze({ ok: true, retryAfterMs: 0, degraded: false })

// A sliding window made of two fixed ones: the count of the previous window is weighted by its part that is still inside. All values are
// whole ms and units, so that "allowed after retryAfterMs, not a ms sooner" is exact.
export interface SlidingWindow {
  /** Ms at which the current window began, with its first event. */
  start: number
  current: number
  previous: number
}

/** Advances the window to `now`; an empty window begins now. When the clock stepped back, the window stays. */
export function roll(window: SlidingWindow, now: number, length: number): void {
  if (now >= window.start + length) {
    window.previous = now < window.start + 2 * length ? window.current : 0
    window.current = 0
    window.start += length
  }
  if (window.previous === 0 && window.current === 0) window.start = now
}

/**
 * Returns the ms until `cost` fits under `cap`; 0 = now. A cost of 0 checks whether one unit would fit. A cost above the cap fits only
 * into an empty window; under a cap of 0 nothing ever fits.
 */
export function waitFor(window: SlidingWindow, now: number, length: number, cap: number, cost: number): number {
  if (cap <= 0) return length
  const { previous, current } = window
  const elapsed = Math.max(0, now - window.start)
  const room = Math.max(0, cap - Math.max(cost, 1) + 1)
  const used = previous * (length - 1 - elapsed) + current * length
  if (used < room * length || used === 0) return 0
  if (current < room || current === 0) return freeAt(previous, room - current, length) - elapsed
  return length - elapsed + freeAt(current, room, length)
}

/** Returns the first ms of a window at which `previous` weighs less than `room`. */
function freeAt(previous: number, room: number, length: number): number {
  return Math.min(length - 1, Math.max(0, Math.floor(length - 1 - (room * length) / previous) + 1))
}

// A token bucket that starts full. The level is in 60,000ths of a token: these are whole numbers, because one ms adds `perMinute` of
// them.
interface TokenBucket {
  level: number
  /** Ms of the last grant. */
  at: number
}

/** Returns the level now. A changed limit applies at once and changes no earlier grant. */
function levelAt({ level, at }: TokenBucket, now: number, perMinute: number, burst: number): number {
  return Math.min(burst * MINUTE, level + Math.max(0, now - at) * perMinute)
}

/**
 * Returns the ms until a bucket at `level` has `cost` tokens; 0 = now. A cost of 0 checks whether one token is available. A cost above
 * the burst waits for a full bucket and leaves a debt.
 */
function waitForTokens(level: number, perMinute: number, burst: number, cost: number): number {
  const missing = Math.min(Math.max(cost, 1), burst) * MINUTE - level
  if (burst > 0 && missing <= 0) return 0
  return burst > 0 && perMinute > 0 ? Math.ceil(missing / perMinute) : MINUTE
}

export function memoryCounters(clock: Clock): Counters {
  const minutes = new Map<string, SlidingWindow & { length: number }>()
  const longer = new Map<string, SlidingWindow & { length: number }>()
  const buckets = new Map<string, TokenBucket & { fullAt: number }>()
  const slots = new Map<string, number>()
  const flags = new Map<string, number>()
  let sweepAt = 0

  /** Monotonic: setting the wall clock must not open or close a limit. */
  const tick = (): number => {
    const now = Math.floor(clock.monotonic())
    if (now < sweepAt) return now
    sweepAt = now + MINUTE
    for (const windows of [minutes, longer])
      for (const [key, window] of windows) if (window.start + 2 * window.length <= now) windows.delete(key)
    for (const [key, bucket] of buckets) if (bucket.fullAt <= now) buckets.delete(key)
    for (const [key, until] of flags) if (until <= now) flags.delete(key)
    return now
  }

  const windowOf = (key: string, now: number, length: number): SlidingWindow => {
    const windows = length > MINUTE ? longer : minutes
    let window = windows.get(key)
    if (window === undefined) {
      window = { start: now, current: 0, previous: 0, length }
      windows.set(key, window)
      if (longer.size > MAX_LONG_WINDOWS) longer.delete(longer.keys().next().value as string)
    } else if (windows === longer) {
      longer.delete(key)
      longer.set(key, window)
    }
    window.length = length
    roll(window, now, length)
    return window
  }

  const takeTokens = (key: string, perMinute: number, burst: number, cost: number): TakeResult => {
    const now = tick()
    const bucket = buckets.get(key)
    const level = bucket === undefined ? burst * MINUTE : levelAt(bucket, now, perMinute, burst)
    const wait = waitForTokens(level, perMinute, burst, cost)
    if (wait > 0) return { ok: false, retryAfterMs: wait, degraded: false }
    const left = level - cost * MINUTE
    const fullAt = left < burst * MINUTE ? now + (burst * MINUTE - left) / perMinute : now
    if (bucket === undefined) buckets.set(key, { level: left, at: now, fullAt })
    else Object.assign(bucket, { level: left, at: now, fullAt })
    return GRANTED
  }

  return {
    take(key, limit, cost = 1) {
      if (limit.burst !== undefined) return takeTokens(key, limit.perMinute, limit.burst, cost)
      const now = tick()
      const window = windowOf(key, now, MINUTE)
      const wait = waitFor(window, now, MINUTE, limit.perMinute, cost)
      if (wait > 0) return { ok: false, retryAfterMs: wait, degraded: false }
      window.current += cost
      return GRANTED
    },
    async debit(key, amount, windowMs) {
      const now = tick()
      const window = windowOf(key, now, windowMs)
      window.current += amount
      return { total: window.current, endsInMs: window.start + windowMs - now, degraded: false }
    },
    inMinute(key) {
      const known = minutes.get(key)
      if (known === undefined) return 0
      const now = tick()
      const window = { ...known }
      roll(window, now, MINUTE)
      const elapsed = Math.max(0, now - window.start)
      return Math.ceil((window.previous * (MINUTE - 1 - elapsed) + window.current * MINUTE) / MINUTE)
    },
    async acquire(key, max) {
      const held = slots.get(key) ?? 0
      if (held >= max) return { ok: false, degraded: false, release: () => {} }
      slots.set(key, held + 1)
      let released = false
      return {
        ok: true,
        degraded: false,
        release() {
          if (released) return
          released = true
          const left = (slots.get(key) as number) - 1
          if (left > 0) slots.set(key, left)
          else slots.delete(key)
        },
      }
    },
    async once(key, ttlMs) {
      const now = tick()
      if ((flags.get(key) ?? Number.NEGATIVE_INFINITY) > now) return false
      flags.set(key, now + ttlMs)
      return true
    },
  }
}
