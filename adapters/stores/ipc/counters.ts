// Counters that workers share over their link: one message and one answer per verb, sent together with those of the same turn.
import type { Clock, Counters, TakeResult, Timer } from '../../../core/types/ports/ports.ts'
import type { Link } from './link.ts'

export function ipcCounters(link: Pick<Link, 'call' | 'send'>, clock: Pick<Clock, 'every'>): Counters {
  let held = 0
  let renewal: { timer: Timer; ms: number } | null = null
  /** One timer renews all leases of this process, so it follows the shortest. */
  const renewed = (leaseMs: number): void => {
    const ms = leaseMs / 3
    if (renewal !== null && renewal.ms <= ms) return
    renewal?.timer.cancel()
    renewal = { ms, timer: clock.every(ms, () => link.send('renew')) }
  }
  return {
    take: (key, { perMinute, burst }, cost = 1) => link.call<TakeResult>('take', key, perMinute, burst ?? null, cost),
    debit: (key, amount, windowMs) => link.call('debit', key, amount, windowMs),
    inMinute: (key) => link.call('inMinute', key),
    async acquire(key, max, leaseMs) {
      const lease = await link.call<number>('acquire', key, max, leaseMs)
      if (lease === 0) return { ok: false, degraded: false, release: () => {} }
      held++
      renewed(leaseMs)
      let released = false
      return {
        ok: true,
        degraded: false,
        release() {
          if (released) return
          released = true
          link.send('release', lease)
          if (--held > 0) return
          renewal?.timer.cancel()
          renewal = null
        },
      }
    },
    once: (key, ttlMs) => link.call('once', key, ttlMs),
  }
}
