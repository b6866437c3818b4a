// Two gateways over one database and one Redis: one returns the other's answers, and Redis reveals none of them.
import { Redis } from 'ioredis'
import { expect, it } from 'vitest'
import { text } from '../../../adapters/testing/script.ts'
import { scriptedUpstream } from '../../../adapters/testing/scripted-upstream.ts'
import { createTestGateway } from '../../../adapters/testing/test-gateway.ts'
import { loadMasterKey } from '../../../adapters/vault/master-key.ts'
import { openVault } from '../../../adapters/vault/vault.ts'
import type { Database } from '../../../core/types/ports/db.ts'
import { testPostgres, whyNoPostgres } from '../../support/postgres.ts'
import { patientRedis, REDIS_URL, reachedRedis, whyNoRedis } from '../../support/redis.ts'
import { bearer, makeKey } from '../keys/support.ts'
import { ask, bodyOf, HOUR, masterKey } from './support.ts'

patientRedis()

/** Returns these gateways' keys in Redis, which other tests use at the same time. */
async function keptKeys(redis: Redis, db: Database, masterKey: string): Promise<string[]> {
  const options = { key: masterKey, path: null, dataDir: null, profile: 'local', ephemeral: false } as const
  const vault = await openVault({ masterKey: loadMasterKey(options), db, create: false })
  return redis.keys(`gw:${vault.mac('shared-store', 'prefix').slice(0, 12)}:*exact-cache*`)
}

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
    const kept = () => keptKeys(redis, here.gateway.db as Database, env.MASTER_KEY)
    try {
      await reachedRedis(here, there)
      const [one, two] = [await makeKey(here), await makeKey(here)]
      const body = bodyOf('chat', 'canary-prompt-7c1', { model: 'up/m' })
      const first = await ask(here, 'chat', body, bearer(one.key))
      expect(first).toMatchObject({ status: 200, cache: 'miss' })
      // It is stored after the answer: a miss of the other gateway would be answered and stored again.
      await expect.poll(async () => (await kept()).length).toBe(1)
      await expect.poll(async () => (await ask(there, 'chat', body, bearer(one.key))).cache, { interval: 20 }).toBe('hit')
      const again = await ask(there, 'chat', body, bearer(one.key))
      expect(again.bytes.equals(first.bytes)).toBe(true)
      expect(there.settled.at(-1)?.outcome.cachedCall).toMatchObject({ requestId: here.settled[0]?.ctx.id, provider: 'up' })
      // The other gateway may learn of this key later than of the first.
      await expect.poll(async () => (await ask(there, 'chat', body, bearer(two.key))).cache, { interval: 20 }).toBe('miss')

      const keys = await kept()
      expect(keys.length).toBeGreaterThan(0)
      for (const key of keys) {
        const text = `${key} ${await redis.get(key)}`
        for (const secret of ['canary-answer-9f3', 'canary-prompt-7c1']) {
          expect(text).not.toContain(secret)
          expect(text).not.toContain(Buffer.from(secret).toString('base64').slice(2, 18))
        }
        expect(await redis.pttl(key)).toBeGreaterThan(0)
      }
      // A moved or altered entry opens nowhere: it is a miss, not an answer.
      for (const key of keys) await redis.set(key, JSON.stringify({ sealed: 'forged' }), 'PX', 60_000)
      const fresh = await createTestGateway({ config: { connections }, env })
      try {
        await reachedRedis(fresh)
        expect(await ask(fresh, 'chat', body, bearer(one.key))).toMatchObject({ status: 200, cache: 'miss' })
      } finally {
        await fresh.close()
      }
    } finally {
      for (const key of await kept()) await redis.unlink(key)
      for (const t of [here, there]) await t.close()
      await redis.quit()
      await upstream.close()
      await database.drop()
    }
  },
)
