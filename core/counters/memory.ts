// Counters of one process: token buckets, windowed sums, leased slots, once-flags. Synchronous inside, bounded by expiry.
import type { Clock, Counters } from '../types/ports.ts'

const MINUTE = 60_000

export function memoryCounters(clock: Clock): Counters {
  const buckets = new Map<string, { tokens: number; at: number; capacity: number; perMs: number }>()
  const sums = new Map<string, { total: number; until: number }>()
  const slots = new Map<string, Set<{ until: number }>>()
  const flags = new Map<string, number>()
  let sweepAt = 0

  const sweep = (now: number): void => {
    if (now < sweepAt) return
    sweepAt = now + MINUTE
    for (const [key, bucket] of buckets)
      if (bucket.tokens + (now - bucket.at) * bucket.perMs >= bucket.capacity) buckets.delete(key)
    for (const [key, sum] of sums) if (sum.until <= now) sums.delete(key)
    for (const [key, until] of flags) if (until <= now) flags.delete(key)
    for (const [key, held] of slots) if (held.size === 0) slots.delete(key)
  }

  return {
    take(key, limit, cost = 1) {
      const now = clock.monotonic()
      sweep(now)
      const capacity = limit.burst ?? limit.perMinute
      const perMs = limit.perMinute / MINUTE
      const bucket = buckets.get(key) ?? { tokens: capacity, at: now, capacity, perMs }
      bucket.tokens = Math.min(capacity, bucket.tokens + (now - bucket.at) * perMs)
      Object.assign(bucket, { at: now, capacity, perMs })
      buckets.set(key, bucket)
      if (bucket.tokens >= cost) {
        bucket.tokens -= cost
        return { ok: true, retryAfterMs: 0, degraded: false }
      }
      return { ok: false, retryAfterMs: perMs > 0 ? Math.ceil((cost - bucket.tokens) / perMs) : MINUTE, degraded: false }
    },
    async debit(key, amount, windowMs) {
      const now = clock.monotonic()
      sweep(now)
      let sum = sums.get(key)
      if (sum === undefined || sum.until <= now) {
        sum = { total: 0, until: now + windowMs }
        sums.set(key, sum)
      }
      sum.total += amount
      return { total: sum.total, degraded: false }
    },
    async acquire(key, max, leaseMs) {
      const now = clock.monotonic()
      const held = slots.get(key) ?? new Set()
      slots.set(key, held)
      for (const lease of held) if (lease.until <= now) held.delete(lease)
      if (held.size >= max) return { ok: false, degraded: false, release: () => {} }
      const lease = { until: now + leaseMs }
      held.add(lease)
      return { ok: true, degraded: false, release: () => void held.delete(lease) }
    },
    async once(key, ttlMs) {
      const now = clock.monotonic()
      sweep(now)
      if ((flags.get(key) ?? 0) > now) return false
      flags.set(key, now + ttlMs)
      return true
    },
  }
}
