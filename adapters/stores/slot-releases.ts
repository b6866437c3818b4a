// Remembers slots that are released while Redis is unavailable, and releases them when it is back. Otherwise an account with a cap would
// stay full until the leases lapse, without a request in flight.
import type { Redis } from 'ioredis'
import type { Clock } from '../../core/types/ports.ts'

export interface SlotReleases {
  /** @param slots the sorted set. Releasing twice is safe: lease ids are unique. */
  giveBack(slots: string, lease: string, leaseMs: number): void
}

interface Owed {
  readonly slots: string
  /** It has lapsed then, monotonic ms. */
  readonly until: number
}

export function slotReleases(redis: Redis, clock: Clock): SlotReleases {
  const owed = new Map<string, Owed>()
  const forgetLapsed = (): void => {
    const now = clock.monotonic()
    // All leases are of one length: what is owed longest lapses first.
    for (const [lease, { until }] of owed) {
      if (until > now) return
      owed.delete(lease)
    }
  }
  const isBack = (): void => {
    forgetLapsed()
    const due = [...owed]
    owed.clear()
    for (const [lease, one] of due) tell(lease, one)
  }
  function tell(lease: string, one: Owed): void {
    redis.zrem(one.slots, lease).catch(() => {
      forgetLapsed()
      if (owed.size === 0) {
        redis.off('ready', isBack)
        redis.once('ready', isBack)
      }
      owed.set(lease, one)
    })
  }
  return { giveBack: (slots, lease, leaseMs) => tell(lease, { slots, until: clock.monotonic() + leaseMs }) }
}
