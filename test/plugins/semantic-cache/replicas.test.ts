// Two gateways over one database and one Redis share their stored answers, which are sealed in Redis.
import { Redis } from 'ioredis'
import { expect, it } from 'vitest'
import { text } from '../../../adapters/testing/script.ts'
import { testPostgres, whyNoPostgres } from '../../support/postgres.ts'
import { patientRedis, REDIS_URL, reachedRedis, whyNoRedis } from '../../support/redis.ts'
import { ask, bodyOf, masterKey } from '../exact-cache/support.ts'
import { bearer, makeKey } from '../keys/support.ts'
import { at, site, turns } from './support.ts'

patientRedis()
const missing = [await whyNoPostgres(), await whyNoRedis()].filter((reason) => reason !== null).join('; ')

it.skipIf(missing !== '')(
  `an answer that one replica keeps is given by the other for a similar question of the same key${missing && ` (${missing})`}`,
  async () => {
    const database = await testPostgres()
    const env = { DATABASE_URL: database.url, REDIS_URL, MASTER_KEY: masterKey() }
    const vectorOf = (prompt: string) => (prompt === 'canary-prompt-51d' ? [1, 0] : at(0.97))
    const here = await site({ env, vectorOf, upstream: [text('canary-answer-77a'), text('other')] })
    const there = await site({ env, vectorOf, upstream: [text('asked again')] })
    const redis = new Redis(REDIS_URL)
    // Without those of the stores' own tests, which run at the same time.
    const kept = async () => (await redis.keys('gw:*:vec:*')).filter((key) => !key.startsWith('gw:test'))
    try {
      await reachedRedis(here.t, there.t)
      const [one, two] = [await makeKey(here.t), await makeKey(here.t)]
      expect((await ask(here.t, 'chat', bodyOf('chat', 'canary-prompt-51d'), bearer(one.key))).cache).toBe('miss')
      await turns()
      const similar = bodyOf('chat', 'similar')
      await expect
        .poll(async () => (await ask(there.t, 'chat', similar, { ...bearer(one.key), 'cache-control': '' })).type)
        .toBe('semantic')
      expect((await ask(there.t, 'chat', similar, bearer(two.key))).cache).toBe('miss')
      const streams = await kept()
      expect(streams.length).toBeGreaterThan(0)
      for (const key of streams) {
        const shown = `${key} ${JSON.stringify(await redis.xrange(key, '-', '+'))}`
        expect(shown).not.toMatch(/canary-(prompt|answer)/)
      }
    } finally {
      for (const key of await kept()) await redis.unlink(key)
      await redis.quit()
      await here.close()
      await there.close()
      await database.drop()
    }
  },
)
