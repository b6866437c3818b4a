// Two gateways over one database and one Redis: what one keeps the other gives, and nothing of it can be read there.

import { Redis } from 'ioredis'
import { expect, it } from 'vitest'
import { text } from '../../../adapters/testing/script.ts'
import { scriptedUpstream } from '../../../adapters/testing/scripted-upstream.ts'
import { createTestGateway } from '../../../adapters/testing/test-gateway.ts'
import { testPostgres, whyNoPostgres } from '../../support/postgres.ts'
import { patientRedis, REDIS_URL, reachedRedis, whyNoRedis } from '../../support/redis.ts'
import { bearer, makeKey } from '../keys/support.ts'
import { ask, bodyOf, HOUR, masterKey } from './support.ts'

patientRedis()
const missing = [await whyNoPostgres(), await whyNoRedis()].filter((reason) => reason !== null).join('; ')

it.skipIf(missing !== '')(
  `an answer kept by one replica is given by the other, to the same key only, sealed in between${missing && ` (${missing})`}`,
  async () => {
    const database = await testPostgres()
    const upstream = await scriptedUpstream(text('canary-answer-9f3'), text('another'))
    const connections = {
      up: { provider: 'custom', baseUrl: upstream.baseUrl('chat'), wireFormat: 'chat', apiKey: 'sk' } as const,
    }
    const env = { ...HOUR, DATABASE_URL: database.url, REDIS_URL, MASTER_KEY: masterKey() }
    const here = await createTestGateway({ config: { connections }, env })
    const there = await createTestGateway({ config: { connections }, env })
    const redis = new Redis(REDIS_URL)
    try {
      await reachedRedis(here, there)
      const [one, two] = [await makeKey(here), await makeKey(here)]
      const body = bodyOf('chat', 'canary-prompt-7c1', { model: 'up/m' })
      const first = await ask(here, 'chat', body, bearer(one.key))
      expect(first).toMatchObject({ status: 200, cache: 'miss' })
      await expect.poll(async () => (await ask(there, 'chat', body, bearer(one.key))).cache, { interval: 20 }).toBe('hit')
      const again = await ask(there, 'chat', body, bearer(one.key))
      expect(again.bytes.equals(first.bytes)).toBe(true)
      expect(there.settled.at(-1)?.outcome.cachedCall).toMatchObject({ requestId: here.settled[0]?.ctx.id, provider: 'up' })
      expect((await ask(there, 'chat', body, bearer(two.key))).cache).toBe('miss')

      const keys = await redis.keys('gw:*exact-cache*')
      expect(keys.length).toBeGreaterThan(0)
      for (const key of keys) {
        const kept = `${key} ${await redis.get(key)}`
        for (const secret of ['canary-answer-9f3', 'canary-prompt-7c1']) {
          expect(kept).not.toContain(secret)
          expect(kept).not.toContain(Buffer.from(secret).toString('base64').slice(2, 18))
        }
        expect(await redis.pttl(key)).toBeGreaterThan(0)
      }
      // What was moved or altered opens nowhere: it is a miss, not an answer.
      for (const key of keys) await redis.set(key, JSON.stringify({ sealed: 'forged' }), 'PX', 60_000)
      const fresh = await createTestGateway({ config: { connections }, env })
      try {
        expect(await ask(fresh, 'chat', body, bearer(one.key))).toMatchObject({ status: 200, cache: 'miss' })
      } finally {
        await fresh.close()
      }
    } finally {
      for (const t of [here, there]) await t.close()
      for (const key of await redis.keys('gw:*exact-cache*')) await redis.unlink(key)
      await redis.quit()
      await upstream.close()
      await database.drop()
    }
  },
)
