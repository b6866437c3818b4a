// Counters over a real Redis: the contract with two gateways on one store, equality with the memory driver, and expiry.
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { redisCounters } from '../../../adapters/stores/redis-counters.ts'
import { countersContract } from '../../../adapters/testing/contracts/counters-contract.ts'
import { fakeClock } from '../../../adapters/testing/fake-clock.ts'
import { memoryCounters } from '../../../core/counters/memory.ts'
import { systemClock } from '../../../core/timing/clock.ts'
import { redisEnv, redisLink, type TestLink, whyNoRedis } from '../../support/redis.ts'

const missing = await whyNoRedis()

async function twoGateways() {
  const env = redisEnv()
  const gateways = await Promise.all(
    [0, 1].map(async () => {
      const clock = fakeClock()
      const link = await redisLink(env)
      return { clock, link, counters: redisCounters({ link, clock, now: clock.now }) }
    }),
  )
  const alive = new Set(gateways)
  /** An unawaited command has arrived when a later command is answered. */
  const flush = () => Promise.all(gateways.map(({ link }) => link.redis.ping()))
  return {
    instances: gateways.map(({ counters }) => ({
      ...counters,
      async acquire(...args: Parameters<typeof counters.acquire>) {
        await flush()
        return counters.acquire(...args)
      },
    })),
    async advance(ms: number) {
      for (const { clock } of alive) await clock.advance(ms)
      await flush()
    },
    crash: (instance: number) => void alive.delete(gateways[instance] as (typeof gateways)[number]),
    async close() {
      await gateways[1]?.link.close()
      await gateways[0]?.link.remove()
    },
  }
}

describe('redis counters', () => {
  for (const { name, run } of countersContract('redis', twoGateways)) {
    it(name, async (context) => {
      context.skip(missing !== null, missing ?? '')
      await run()
    })
  }
})

describe('redis counters on the server', () => {
  let link: TestLink | null = null
  beforeAll(async () => {
    if (missing === null) link = await redisLink()
  })
  afterAll(() => link?.remove())

  const withRedis = (name: string, run: (link: TestLink) => Promise<void>) =>
    it(name, async (context) => {
      context.skip(link === null, missing ?? '')
      await run(link as TestLink)
    })

  withRedis('answer as the memory driver does, whatever is asked in whatever order', async (link) => {
    const key = fc.constantFrom('a', 'b')
    const step = fc.oneof(
      fc.record({ verb: fc.constant('take' as const), key, cost: fc.nat(10) }),
      fc.record({ verb: fc.constant('burst' as const), key, cost: fc.nat(8) }),
      fc.record({ verb: fc.constant('debit' as const), key, amount: fc.nat(9) }),
      fc.record({ verb: fc.constant('once' as const), key, ttl: fc.integer({ min: 30_000, max: 90_000 }) }),
      fc.record({ verb: fc.constant('wait' as const), ms: fc.nat(70_000) }),
    )
    // Drawn once per run: after a change of the limit the drivers differ in what they keep of expired state.
    const limits = fc.record({ cap: fc.nat(8), perMinute: fc.nat(90), burst: fc.nat(6) })
    let run = 0
    await fc.assert(
      fc.asyncProperty(limits, fc.array(step, { maxLength: 40 }), async ({ cap, ...bucket }, steps) => {
        const clock = fakeClock()
        const name = `same${++run}`
        const drivers = [memoryCounters(clock), redisCounters({ link, clock, now: clock.now })] as const
        for (const one of steps) {
          if (one.verb === 'wait') {
            await clock.advance(one.ms)
            continue
          }
          const [memory, redis] = await Promise.all(
            drivers.map((counters) => {
              const at = `${name}${one.key}`
              if (one.verb === 'take') return counters.take(at, { perMinute: cap }, one.cost)
              if (one.verb === 'burst') return counters.take(`${at}b`, bucket, one.cost)
              if (one.verb === 'debit') return counters.debit(at, one.amount, 60_000)
              return counters.once(at, one.ttl)
            }),
          )
          expect(redis).toEqual(memory)
        }
      }),
      { numRuns: 60 },
    )
  })

  withRedis('take the time from the server, and leave no key behind that never expires', async (link) => {
    const counters = redisCounters({ link, clock: systemClock })
    expect((await counters.take('live', { perMinute: 1 })).ok).toBe(true)
    const refused = await counters.take('live', { perMinute: 1 })
    expect(refused.ok).toBe(false)
    expect(refused.retryAfterMs).toBeGreaterThan(50_000)
    await counters.take('live', { perMinute: 60, burst: 3 }, 2)
    await counters.debit('sum', 1, 50_000)
    const lease = await counters.acquire('slots', 1, 50_000)
    // Sent together, so that no delay of this machine is between them.
    expect(await Promise.all([counters.once('flag', 1000), counters.once('flag', 1000)])).toEqual([true, false])
    await expect.poll(() => counters.once('flag', 50_000)).toBe(true)
    const keys = (await link.redis.keys(`${link.prefix}*`)).filter((name) => /:(live|sum|slots|flag)$/.test(name))
    for (const key of keys) {
      const ttl = await link.redis.pttl(key)
      expect(ttl, key).toBeGreaterThan(0)
      expect(ttl, key).toBeLessThanOrEqual(120_000)
    }
    expect(keys).toHaveLength(5)
    lease.release()
    await expect.poll(async () => (await counters.acquire('slots', 1, 50_000)).ok).toBe(true)
  })

  withRedis('put a lease back that the server lost, and free it all the same', async (link) => {
    const clock = fakeClock()
    const counters = redisCounters({ link, clock, now: clock.now })
    const lease = await counters.acquire('lost', 1, 9000)
    await link.redis.unlink(`${link.prefix}slots:lost`)
    await clock.advance(3000)
    expect((await counters.acquire('lost', 1, 9000)).ok).toBe(false)
    lease.release()
    await clock.advance(9000)
    expect((await counters.acquire('lost', 1, 9000)).ok).toBe(true)
  })
})
