// The key-value storage over Redis: values, exact expiry, prefixes, and memory while Redis is unavailable.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openRedis } from '../../../adapters/stores/redis-client.ts'
import { redisDriver, redisStorage } from '../../../adapters/stores/redis-storage.ts'
import { fakeRedis } from '../../../adapters/testing/fake-redis.ts'
import { memoryDriver } from '../../../core/kv/memory-driver.ts'
import { silentLog } from '../../../core/log.ts'
import { systemClock } from '../../../core/timing/clock.ts'
import { expectWithin, timed } from '../../support/in-time.ts'
import { redisLink, type TestLink, untilReady, whyNoRedis } from '../../support/redis.ts'

const missing = await whyNoRedis()
const local = () => memoryDriver({ clock: systemClock })

describe('redis storage', () => {
  let link: TestLink | null = null
  beforeAll(async () => {
    if (missing === null) link = await redisLink()
  })
  afterAll(() => link?.remove())

  const withRedis = (name: string, run: (link: TestLink, storage: ReturnType<typeof redisStorage>) => Promise<void>) =>
    it(name, async (context) => {
      context.skip(link === null, missing ?? '')
      await run(link as TestLink, redisStorage({ link: link as TestLink, local: local() }))
    })

  withRedis('keeps values, bytes and absence apart', async (_, storage) => {
    await storage.setItem('a:json', { n: 1, text: 'ü' })
    await storage.setItemRaw('a:bytes', new Uint8Array([0, 255, 13, 10]))
    expect(await storage.getItem('a:json')).toEqual({ n: 1, text: 'ü' })
    expect([...((await storage.getItemRaw('a:bytes')) as Uint8Array)]).toEqual([0, 255, 13, 10])
    expect([await storage.hasItem('a:json'), await storage.hasItem('a:none')]).toEqual([true, false])
    expect(await storage.getItem('a:none')).toBeNull()
    await storage.removeItem('a:json')
    expect(await storage.getItem('a:json')).toBeNull()
  })

  withRedis('lets a value go when its time is over, to the ms, and one without a time never', async (link, storage) => {
    await storage.setItem('ttl:short', 1, { ttl: 0.05 })
    await storage.setItem('ttl:long', 1, { ttl: 90 })
    await storage.setItem('ttl:none', 1)
    const [, long, none] = await Promise.all(
      ['short', 'long', 'none'].map((name) => link.redis.pttl(`${link.prefix}kv:ttl:${name}`)),
    )
    expect(long).toBeGreaterThan(60_000)
    expect(none).toBe(-1)
    await expect.poll(() => storage.getItem('ttl:short')).toBeNull()
  })

  withRedis('lists and clears under a base only, whatever characters it has', async (link, storage) => {
    for (const key of ['x*y:1', 'x*y:2', 'xzy:3']) await storage.setItem(key, 1)
    expect((await storage.getKeys('x*y')).sort()).toEqual(['x*y:1', 'x*y:2'])
    await redisDriver({ link, local: local() }).clear?.('x*y:', {})
    expect(await storage.getKeys('x*y')).toEqual([])
    expect(await storage.getItem('xzy:3')).toBe(1)
    const other = await redisLink()
    expect(await redisStorage({ link: other, local: local() }).getKeys()).toEqual([])
    await other.remove()
    await storage.clear()
    expect(await storage.getKeys()).toEqual([])
  })
})

describe('redis storage without Redis', () => {
  it('keeps values in memory, rejects nothing, and stops asking a server that hangs', async () => {
    const redis = await fakeRedis()
    const link = await openRedis({ url: redis.url, env: 'test', clock: systemClock, log: silentLog })
    const storage = redisStorage({ link, local: local() })
    await untilReady(link)
    redis.mode = 'silent'
    await storage.setItem('k', { n: 1 }, { ttl: 60 })
    expect(await storage.getItem('k')).toEqual({ n: 1 })
    expect(await storage.hasItem('k')).toBe(true)
    expect(link.usable).toBe(false)
    const asked = async () => {
      expect(await storage.getKeys()).toEqual(['k'])
      await storage.removeItem('k')
      expect(await storage.getItem('k')).toBeNull()
      await storage.setItem('k', 1)
    }
    await expectWithin(40, () => timed(asked))
    await link.close()
    await redis.die()
  })
})
