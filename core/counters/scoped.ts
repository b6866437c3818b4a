// Gives a plugin the counters under its own prefix.
import type { Counters } from '../types/ports/ports.ts'

export function scopedCounters(counters: Counters, prefix: string): Counters {
  return {
    take: (key, limit, cost) => counters.take(prefix + key, limit, cost),
    debit: (key, amount, windowMs) => counters.debit(prefix + key, amount, windowMs),
    inMinute: (key) => counters.inMinute(prefix + key),
    acquire: (key, max, leaseMs) => counters.acquire(prefix + key, max, leaseMs),
    once: (key, ttlMs) => counters.once(prefix + key, ttlMs),
  }
}
