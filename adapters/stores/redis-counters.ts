// Counters shared over Redis: one atomic script and one round trip per verb, on the server's own time.
import { randomUUID } from 'node:crypto'
import type { Redis } from 'ioredis'
import type { Clock, Counters } from '../../core/types/ports/ports.ts'
import { TAKE_TOKENS } from './lua/bucket.ts'
import { ACQUIRE, RENEW } from './lua/lease.ts'
import { ONCE } from './lua/once.ts'
import { DEBIT, LOOK, TAKE_WINDOW } from './lua/window.ts'
import type { RedisLink } from './redis-client.ts'

export interface RedisCountersOptions {
  link: RedisLink
  /** Schedules the renewal of leases. */
  clock: Clock
  /** Epoch ms in place of the server's time, for tests. */
  now?: () => number
}

// Records slots that are released while Redis is unavailable, and releases them when it is back. Otherwise an account with a cap would
// stay full until the leases expire, without a running request.
interface SlotReleases {
  /** @param slots the sorted set. A second release is harmless, because lease ids are unique. */
  giveBack(slots: string, lease: string, leaseMs: number): void
}

interface Owed {
  readonly slots: string
  /** Monotonic ms at which the lease expires. */
  readonly until: number
}

function slotReleases(redis: Redis, clock: Clock): SlotReleases {
  const owed = new Map<string, Owed>()
  const forgetLapsed = (): void => {
    const now = clock.monotonic()
    // All leases have the same length, so the oldest entry expires first.
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

/** Each verb rejects when Redis does; fallbackCounters decides the effect. */
export function redisCounters({ link, clock, now }: RedisCountersOptions): Counters {
  const { prefix } = link
  const scripts = defineScripts(link.redis)
  const releases = slotReleases(link.redis, clock)
  const time = (): string => (now === undefined ? '' : String(Math.floor(now())))
  const process = randomUUID()
  let leases = 0

  return {
    async take(key, { perMinute, burst }, cost = 1) {
      const wait = await (burst === undefined
        ? scripts.gwTakeWindow(`${prefix}window:${key}`, time(), MINUTE, perMinute, cost)
        : scripts.gwTakeTokens(`${prefix}bucket:${key}`, time(), perMinute, burst, cost))
      return { ok: wait === 0, retryAfterMs: wait, degraded: false }
    },
    async debit(key, amount, windowMs) {
      const [total, endsInMs] = await scripts.gwDebit(`${prefix}window:${key}`, time(), windowMs, amount)
      return { total, endsInMs, degraded: false }
    },
    inMinute: (key) => scripts.gwLook(`${prefix}window:${key}`, time(), MINUTE),
    async acquire(key, max, leaseMs) {
      const slots = `${prefix}slots:${key}`
      const lease = `${process}:${++leases}`
      const release = (): void => releases.giveBack(slots, lease, leaseMs)
      let held: number
      try {
        held = await scripts.gwAcquire(slots, time(), leaseMs, lease, max)
      } catch (error) {
        // The answer may be late instead of lost. The slot must not stay taken for a whole lease.
        release()
        throw error
      }
      if (held === 0) return { ok: false, degraded: false, release: () => {} }
      const renewal = clock.every(leaseMs / 3, () => void scripts.gwRenew(slots, time(), leaseMs, lease).catch(() => {}))
      let released = false
      return {
        ok: true,
        degraded: false,
        release() {
          if (released) return
          released = true
          renewal.cancel()
          release()
        },
      }
    },
    async once(key, ttlMs) {
      return (await scripts.gwOnce(`${prefix}once:${key}`, time(), Math.max(1, Math.ceil(ttlMs)))) === 1
    },
  }
}

const MINUTE = 60_000

type Script<T = number> = (key: string, ...args: (string | number)[]) => Promise<T>
type Scripts = Record<'gwTakeWindow' | 'gwLook' | 'gwTakeTokens' | 'gwAcquire' | 'gwRenew' | 'gwOnce', Script> & {
  gwDebit: Script<[total: number, endsInMs: number]>
}

/** The client sends a script's text once per connection, and its hash after that. */
function defineScripts(redis: Redis): Scripts {
  const texts: Record<keyof Scripts, string> = {
    gwTakeWindow: TAKE_WINDOW,
    gwTakeTokens: TAKE_TOKENS,
    gwDebit: DEBIT,
    gwLook: LOOK,
    gwAcquire: ACQUIRE,
    gwRenew: RENEW,
    gwOnce: ONCE,
  }
  for (const [name, lua] of Object.entries(texts)) redis.defineCommand(name, { lua, numberOfKeys: 1 })
  return redis as unknown as Scripts
}
