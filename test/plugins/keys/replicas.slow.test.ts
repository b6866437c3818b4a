// Several processes over one database: a change in one applies to the others within two seconds.
import { randomBytes } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { type FakeClock, fakeClock } from '../../../adapters/testing/fake-clock.ts'
import { createTestGateway, type TestGateway } from '../../../adapters/testing/test-gateway.ts'
import { newSecret } from '../../../plugins/keys/secret.ts'
import { whileTimePasses } from '../../support/passing-time.ts'
import { testPostgres, whyNoPostgres } from '../../support/postgres.ts'
import { patientRedis, REDIS_URL, reachedRedis, whyNoRedis } from '../../support/redis.ts'
import { openFile, type Site } from '../../support/sites.ts'
import { seeded } from '../virtual-models/support.ts'
import { ask, bearer, type Made, makeKey } from './support.ts'

const MASTER_KEY = randomBytes(32).toString('base64')
const noServers = [await whyNoPostgres(), await whyNoRedis()].filter((reason) => reason !== null).join('; ')

const SITES: [string, string, () => Promise<Site>][] = [
  ['one SQLite file', '', openFile],
  [
    'PostgreSQL and Redis',
    noServers,
    async () => {
      const database = await testPostgres()
      const env = { DATABASE_URL: database.url, REDIS_URL, MASTER_KEY, LIMITER_REDIS_FALLBACK: 'fail-closed' }
      return { env, end: () => database.drop() }
    },
  ],
]

const chat = (t: TestGateway, key: string) => t.post('/v1/chat/completions', ask('chat/m'), bearer(key))

const statusOf = async (t: TestGateway, key: string) => (await chat(t, key)).status

const json = (method: string, body: object) => ({
  method,
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify(body),
})

async function made(response: Response): Promise<Made> {
  if (!response.ok) throw new Error(`${response.url}: ${response.status} ${await response.text()}`)
  return (await response.json()) as Made
}

async function listed(t: TestGateway) {
  const [keys, budgets] = await Promise.all(['/api/keys', '/api/budgets'].map(async (path) => (await t.fetch(path)).json()))
  return { keys: (keys as { data: object[] }).data, budgets: (budgets as { data: object[] }).data }
}

patientRedis()

for (const [name, missing, open] of SITES) {
  describe.skipIf(missing !== '')(`two gateways over ${name}${missing && ` (skipped: ${missing})`}`, () => {
    const onSqlite = name === 'one SQLite file'
    /** Within two seconds: exactly then when the database answers in the same turn. */
    const followed = async (clock: FakeClock, look: () => Promise<number>, status: number) => {
      await clock.advance('2s')
      if (onSqlite) expect(await look()).toBe(status)
      else await whileTimePasses(clock, look).toBe(status)
    }
    const reached = async (...gateways: TestGateway[]) => {
      if (!onSqlite) await reachedRedis(...gateways)
    }
    type Start = () => Promise<TestGateway>
    const pair = async (run: (a: TestGateway, b: TestGateway, clock: FakeClock, start: Start) => Promise<void>) => {
      const site = await open()
      const clock = fakeClock()
      const start = () => createTestGateway({ env: site.env, ports: { clock } })
      const gateways = [await start(), await start()] as const
      try {
        await reached(...gateways)
        await run(...gateways, clock, start)
      } finally {
        for (const gateway of gateways) await gateway.close()
        await site.end()
      }
    }

    it('a key made on one works on the other at once; keys that do not exist cost one query in 100 ms', async () => {
      await pair(async (a, b, clock) => {
        const { key } = await makeKey(a)
        expect(await statusOf(b, key)).toBe(200)
        const invented = () => Promise.all(Array.from({ length: 50 }, () => statusOf(b, newSecret())))
        expect(new Set(await invented())).toEqual(new Set([401]))
        const second = await makeKey(a)
        expect(await statusOf(b, second.key)).toBe(401)
        await clock.advance(100)
        expect(await statusOf(b, second.key)).toBe(200)
      })
    })

    it('a key made on one works on the other, and is refused there within two seconds of its revocation', async () => {
      await pair(async (a, b, clock) => {
        const { id, key } = await makeKey(a)
        expect(await statusOf(a, key)).toBe(200)
        await followed(clock, () => statusOf(b, key), 200)
        const running = Array.from({ length: 100 }, () => chat(b, key))
        await a.fetch(`/api/keys/${id}`, { method: 'DELETE' })
        expect(await statusOf(a, key)).toBe(401)
        await followed(clock, () => statusOf(b, key), 401)
        for (const response of await Promise.all(running)) expect([200, 401]).toContain(response.status)
        expect([await statusOf(a, key), await statusOf(b, key)]).toEqual([401, 401])
      })
    })

    it('after many changes on both, each knows the same keys and budgets as a gateway that starts', async () => {
      await pair(async (a, b, clock, start) => {
        const random = seeded(7)
        const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)] as T
        const living = new Map<number, string>()
        const ended: string[] = []
        const budgets: number[] = []
        const changes = {
          create: async (t: TestGateway) => {
            const { id, key } = await makeKey(t, { label: pick(['ci', 'web']) })
            living.set(id, key)
            const limit = { scope: 'key', entity_id: id, window: 'daily', hard_limit_usd: 5 }
            budgets.push((await made(await t.post('/api/budgets', limit))).id)
          },
          rename: (t: TestGateway, id: number) =>
            t.fetch(`/api/keys/${id}`, json('PATCH', { label: pick(['ci', 'web', 'app']) })),
          rotate: async (t: TestGateway, id: number) => {
            ended.push(living.get(id) as string)
            living.set(id, (await made(await t.fetch(`/api/keys/${id}/rotate`, { method: 'POST' }))).key)
          },
          revoke: async (t: TestGateway, id: number) => {
            ended.push(living.get(id) as string)
            living.delete(id)
            await t.fetch(`/api/keys/${id}`, { method: 'DELETE' })
          },
          limit: (t: TestGateway) =>
            t.fetch(`/api/budgets/${pick(budgets)}`, json('PUT', { hard_limit_usd: Math.ceil(random() * 9) })),
          forget: (t: TestGateway) => t.fetch(`/api/budgets/${pick(budgets)}`, { method: 'DELETE' }),
        }
        for (const t of [a, b]) for (let i = 0; i < 3; i++) await changes.create(t)
        for (let i = 0; i < 60; i++) {
          // The other gateway knows of the change before it changes the same row.
          if (onSqlite) await clock.advance('1s')
          else
            await whileTimePasses(clock, async () => JSON.stringify(await listed(a)) === JSON.stringify(await listed(b))).toBe(
              true,
            )
          const change = living.size > 1 ? pick(Object.values(changes)) : changes.create
          await change(pick([a, b]), pick([...living.keys()]))
        }
        await followed(clock, () => statusOf(b, [...living.values()].at(-1) as string), 200)
        await followed(clock, () => statusOf(a, ended.at(-1) as string), 401)
        const fresh = await start()
        try {
          await reached(fresh)
          const known = await listed(fresh)
          expect(known.keys.length).toBe(living.size)
          for (const t of [a, b]) {
            expect(await listed(t)).toEqual(known)
            for (const key of living.values()) expect(await statusOf(t, key)).toBe(200)
            for (const key of ended) expect(await statusOf(t, key)).toBe(401)
          }
        } finally {
          await fresh.close()
        }
      })
    })

    it('everything is still there after a restart', async () => {
      const site = await open()
      const first = await createTestGateway({ env: site.env })
      const { key, id } = await makeKey(first, { label: 'kept', rate_limit_rpm: 5 })
      await first.close()
      const second = await createTestGateway({ env: site.env })
      await reached(second)
      expect((await chat(second, key)).status).toBe(200)
      const { data } = (await (await second.fetch('/api/keys')).json()) as { data: { id: number; label: string }[] }
      expect(data).toMatchObject([{ id, label: 'kept', rate_limit_rpm: 5 }])
      await second.close()
      await site.end()
    })

    // SQLite has no shared store, so each process has its own rates (`hookgate doctor` reports it).
    if (onSqlite) return

    it('an rpm cap of 60 is 60 over both together', async () => {
      await pair(async (a, b, clock) => {
        const [{ key }, { key: other }] = [await makeKey(a, { rate_limit_rpm: 60 }), await makeKey(a, { rate_limit_rpm: 9999 })]
        const asked = async (t: TestGateway, by: string) => {
          const response = await t.post('/v1/messages/count_tokens', ask('chat/m'), bearer(by))
          await response.arrayBuffer()
          return response.status
        }
        for (const t of [a, b]) await followed(clock, () => asked(t, other), 200)
        const statuses = await Promise.all(Array.from({ length: 200 }, (_, i) => asked(i % 2 ? a : b, key)))
        const count = (status: number) => statuses.filter((one) => one === status).length
        expect([count(200), count(429)]).toEqual([60, 140])
      })
    })
  })
}
