// A request that ends while Redis is unavailable frees its slot for all processes when Redis is back, not when a lease expires.
import { describe, expect, it } from 'vitest'
import type { RedisLink } from '../../../adapters/stores/redis-client.ts'
import { redisCounters } from '../../../adapters/stores/redis-counters.ts'
import { fakeClock } from '../../../adapters/testing/fake-clock.ts'
import { systemClock } from '../../../core/timing/clock.ts'
import { redisEnv, redisLink, whyNoRedis } from '../../support/redis.ts'

const missing = await whyNoRedis()
const LEASE_MS = 600_000
/** Reconnects at once; until the connection's end the old one still reports itself ready. */
const reconnected = ({ redis }: RedisLink): Promise<void> => {
  const back = new Promise<void>((resolve) => redis.once('ready', resolve))
  redis.disconnect(true)
  return back
}

describe.skipIf(missing !== null)(`slots given back without a connection${missing ? ` (skipped: ${missing})` : ''}`, () => {
  const connected = async (clock = systemClock) => {
    const env = redisEnv()
    const [mine, theirs] = [await redisLink(env, clock), await redisLink(env)]
    const counters = redisCounters({ link: mine, clock })
    const held = await Promise.all([counters.acquire('a', 2, LEASE_MS), counters.acquire('a', 2, LEASE_MS)])
    /** As another process sees it. */
    const taken = () => theirs.redis.zcard(`${theirs.prefix}slots:a`)
    const close = async () => {
      await mine.close()
      await theirs.remove()
    }
    expect(held.map(({ ok }) => ok)).toEqual([true, true])
    expect(await taken()).toBe(2)
    return { mine, held, taken, close }
  }

  it('are free when it is back, and only those', async () => {
    const { mine, held, taken, close } = await connected()
    try {
      const back = reconnected(mine)
      held[0]?.release()
      await back
      await expect.poll(taken).toBe(1)
      held[1]?.release()
      await expect.poll(taken).toBe(0)
    } finally {
      await close()
    }
  })

  it('are free after an outage of several attempts, and are not spoken of when they have lapsed by then', async () => {
    const clock = fakeClock()
    const { mine, held, taken, close } = await connected(clock)
    try {
      const back = reconnected(mine)
      held[0]?.release()
      await back
      await expect.poll(taken).toBe(1)
      const again = reconnected(mine)
      held[1]?.release()
      await clock.advance(LEASE_MS)
      await again
      // In the order of the connection, so everything sent on the way back has arrived.
      await mine.redis.ping()
      expect(await taken()).toBe(1)
    } finally {
      await close()
    }
  })
})
