// A burst on a healthy Redis: limits are exact although the gateway's event loop is late.
import { afterEach, describe, expect, it } from 'vitest'
import { type FallbackPolicy, fallbackCounters } from '../../../adapters/stores/fallback-counters.ts'
import { openRedis, type RedisLink } from '../../../adapters/stores/redis-client.ts'
import { redisCounters } from '../../../adapters/stores/redis-counters.ts'
import { memoryCounters } from '../../../core/counters/memory.ts'
import { silentLog } from '../../../core/log.ts'
import { systemClock } from '../../../core/timing/clock.ts'
import { REDIS_URL, redisEnv, untilReady, whyNoRedis } from '../../support/redis.ts'

const LIMIT = { perMinute: 50 }
const links: RedisLink[] = []
afterEach(async () => {
  for (const link of links.splice(0)) await link.close()
})

async function counters(policy: FallbackPolicy, env: string) {
  const link = await openRedis({ url: REDIS_URL, env, clock: systemClock, log: silentLog })
  links.push(link)
  await untilReady(link)
  const local = memoryCounters(systemClock)
  return fallbackCounters({ shared: redisCounters({ link, clock: systemClock }), local, link, policy, clock: systemClock })
}

/** Blocks the event loop, as parsing a large body does. */
function stall(ms: number): void {
  const end = performance.now() + ms
  while (performance.now() < end);
}

describe.skipIf((await whyNoRedis()) !== null)('4,000 takes at once', () => {
  it.each<FallbackPolicy>([
    'fail-open',
    'fail-closed',
  ])('%s: admit exactly the limit, undegraded, while the loop stalls', async (policy) => {
    const shared = await counters(policy, redisEnv())
    const taking = []
    for (let i = 0; i < 4000; i++) {
      taking.push(shared.take('k', LIMIT))
      if (i % 1000 === 0) await new Promise((resolve) => setImmediate(resolve))
      if (i % 500 === 0) stall(120)
    }
    stall(200)
    const taken = await Promise.all(taking)
    expect(taken.filter(({ degraded }) => degraded)).toHaveLength(0)
    expect(taken.filter(({ ok }) => ok)).toHaveLength(LIMIT.perMinute)
  })
})
