// State that survives a process, and state that several processes share.
import { randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Redis } from 'ioredis'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { fakeClock } from '../../../adapters/testing/fake-clock.ts'
import { fail, text } from '../../../adapters/testing/script.ts'
import type { ConnectionConfig } from '../../../core/config/define.ts'
import { testPostgres, whyNoPostgres } from '../../support/postgres.ts'
import { patientRedis, REDIS_URL, reachedRedis, whyNoRedis } from '../../support/redis.ts'
import { MASTER_KEY } from '../connections/support.ts'
import { behind, type World, world } from './support.ts'

const noPostgres = await whyNoPostgres()
patientRedis()
const noServers = [noPostgres, await whyNoRedis()].filter((reason) => reason !== null).join('; ')

interface Site {
  env: Record<string, string>
  remove(): Promise<void> | void
}

const ENGINES: [string, string | null, () => Promise<Site>][] = [
  [
    'SQLite',
    null,
    async () => {
      const dir = mkdtempSync(join(tmpdir(), 'hookgate-resilience-'))
      return { env: { DATA_DIR: dir, MASTER_KEY }, remove: () => rmSync(dir, { recursive: true }) }
    },
  ],
  [
    'PostgreSQL',
    noPostgres,
    async () => {
      const { url, drop } = await testPostgres()
      return { env: { DATABASE_URL: url, MASTER_KEY }, remove: drop }
    },
  ],
]

describe.each(ENGINES)('a restart over %s', (_name, missing, site) => {
  it.skipIf(missing !== null)('keeps cooldowns, locks, quota and backoff, and not circuits or refused keys', async () => {
    const { env, remove } = await site()
    const clock = fakeClock()
    const account = (script: ReturnType<typeof fail>[]) => ({ script })
    const first = await world({
      env,
      clock,
      accounts: [
        account([fail(402)]),
        account([fail(403), fail(429)]),
        account([fail(429, { headers: { 'retry-after': '7200' } })]),
        account([fail(401)]),
        account([fail(500)]),
      ],
    })
    await first.status('a')
    for (let i = 0; i < 4; i++) await first.status('b')
    expect((await first.states()).map(({ status }) => status)).toEqual([
      ...['cooldown', 'active', 'quota_exhausted', 'auth_failed', 'circuit_open'],
    ])
    const before = await first.states()
    await first.close()

    await clock.advance('10s')
    const second = await world({ env, clock, accounts: Array(5).fill({ script: [text('ok')] }) })
    try {
      const after = await second.states()
      expect(after.map(({ status }) => status)).toEqual(['cooldown', 'active', 'quota_exhausted', 'active', 'active'])
      expect(after[0]?.cooldown_until).toBe(before[0]?.cooldown_until)
      expect(after[1]?.model_locks).toEqual(
        (before[1]?.model_locks as { reason: string }[]).filter(({ reason }) => reason === 'permission'),
      )
      expect(after[2]?.quota_resets_at).toBe(before[2]?.quota_resets_at)
      expect(after[0]?.last_error).toMatchObject({ status: 402 })
      expect(await second.status('a')).toBe(200)
      expect(second.calls()).toEqual([0, 0, 0, 1, 0])
      expect(second.told).toEqual([])
    } finally {
      await second.close()
      await remove()
    }
  })
})

it('a reload keeps circuits, too: a connection is added while another one is out', async () => {
  const w = await world({ accounts: [{ script: [fail(500)] }] })
  try {
    for (let i = 0; i < 5; i++) await w.status()
    const known = ({ status, breaker, consecutive_failures, cooldown_until }: Record<string, unknown> = {}) => ({
      status,
      breaker,
      consecutive_failures,
      cooldown_until,
    })
    const before = known((await w.states())[0])
    expect(before).toMatchObject({ breaker: 'open', consecutive_failures: 5 })
    await w.reload({ more: { provider: 'echo' } })
    expect(known((await w.states())[0])).toEqual(before)
    expect(await w.status()).toBe(503)
    expect(w.calls()).toEqual([5])
    await w.clock.advance('30s')
    w.accounts[0]?.script(text('ok'))
    expect(await w.status()).toBe(200)
    const circuit = w.types().filter((type) => type !== 'provider.outage')
    expect(circuit).toEqual(['provider.circuit_opened', 'account.cooldown_started', 'provider.circuit_closed'])
  } finally {
    await w.close()
  }
})

describe.skipIf(noServers !== '')(
  `two gateways over one database and one Redis${noServers && ` (skipped: ${noServers})`}`,
  () => {
    let env: Record<string, string>
    let drop: () => Promise<void>
    beforeAll(async () => {
      const database = await testPostgres()
      env = { DATABASE_URL: database.url, REDIS_URL, MASTER_KEY, LIMITER_REDIS_FALLBACK: 'fail-closed' }
      drop = database.drop
    })
    afterAll(() => drop())

    /** The circuit stays open longer than a busy server needs to share it with the other gateway. */
    const config = { settings: { breaker: { cooldown_secs: 600 } } }

    /** Both call the upstreams of the first. */
    const pair = async (run: (a: World, b: World) => Promise<void>, more: Partial<ConnectionConfig> = {}): Promise<void> => {
      const clock = fakeClock()
      const a = await world({ env, clock, config, accounts: [{ script: [fail(500)], ...more }] })
      const baseUrl = a.accounts[0]?.baseUrl('chat')
      const b = await world({ env, clock, config, accounts: [{ baseUrl, ...more }] })
      try {
        await reachedRedis(a.t, b.t)
        await run(a, b)
      } finally {
        for (const one of [a, b]) {
          for (const { connection } of await ids(one)) one.service.clear(connection)
          await one.close()
        }
      }
    }

    const ids = async ({ t }: World): Promise<{ connection: string }[]> =>
      ((await (await t.fetch('/api/providers')).json()) as { data: { id: number }[] }).data.map(({ id }) => ({
        connection: String(id),
      }))

    /** Advances the clock until both have read the state. */
    const eventually = async (w: World, condition: () => Promise<boolean>): Promise<void> => {
      const end = performance.now() + 30_000
      while (!(await condition())) {
        if (performance.now() > end) throw new Error('It did not become true in 30 s.')
        await w.clock.advance(100)
        await new Promise((resolve) => setTimeout(resolve, 10))
      }
    }
    const breaker = async (w: World) => (await w.states())[0]?.breaker

    it('a circuit that opens on one is open on the other; one probe over both; it closes on both', async () => {
      await pair(async (a, b) => {
        for (let i = 0; i < 5; i++) await a.status()
        await eventually(b, async () => (await breaker(b)) === 'open')
        expect(await b.status()).toBe(503)
        expect(a.calls()).toEqual([5])
        const { hold, counted } = behind(19)
        a.accounts[0]?.script(text('ok', { hold }))
        await a.clock.advance('10m')
        const seen = await Promise.all([...Array(10).fill(a), ...Array(10).fill(b)].map((w: World) => counted(w.status())))
        expect(seen.filter((status) => status === 200)).toHaveLength(1)
        expect(a.calls()).toEqual([6])
        await eventually(b, async () => (await breaker(a)) === 'closed' && (await breaker(b)) === 'closed')
        const types = [...a.types(), ...b.types()]
        for (const type of ['provider.circuit_opened', 'provider.circuit_closed', 'account.cooldown_started', 'provider.outage'])
          expect(
            types.filter((one) => one === type),
            type,
          ).toHaveLength(1)
      })
    })

    it('a lock that one learns of keeps the other away, and ends on both when somebody ends it', async () => {
      await pair(async (a, b) => {
        a.accounts[0]?.script(fail(429, { headers: { 'retry-after': '3000' } }), text('ok'))
        await a.status()
        await eventually(b, async () => ((await b.states())[0]?.model_locks as unknown[]).length === 1)
        expect(await b.status()).toBe(429)
        expect(a.calls()).toEqual([1])
        const [{ connection }] = (await ids(b)) as [{ connection: string }]
        expect(b.service.clearLocks(connection)).toBe(1)
        await eventually(a, async () => ((await a.states())[0]?.model_locks as unknown[]).length === 0)
        expect(await a.status()).toBe(200)
      })
    })

    it('a Redis that comes back empty is told what is known', async () => {
      const redis = new Redis(REDIS_URL)
      const model = randomUUID()
      const shared = async (): Promise<string | undefined> => {
        for (const key of await redis.keys('gw:*:resilience:state:*')) if ((await redis.get(key))?.includes(model)) return key
        return undefined
      }
      try {
        await pair(async (a) => {
          a.accounts[0]?.script(fail(429, { headers: { 'retry-after': '3000' } }))
          await a.status(model)
          await eventually(a, async () => (await shared()) !== undefined)
          const key = (await shared()) as string
          await redis.del(key, key.replace(/state:.*$/, 'changed'))
          await eventually(a, async () => (await shared()) !== undefined)
        })
      } finally {
        redis.disconnect()
      }
    })

    it('in-flight slots are counted over both', async () => {
      await pair(
        async (a, b) => {
          const { hold, counted } = behind(17)
          a.accounts[0]?.script(text('slow', { hold }))
          const seen = await Promise.all([...Array(10).fill(a), ...Array(10).fill(b)].map((w: World) => counted(w.status())))
          expect(seen.filter((status) => status === 200)).toHaveLength(3)
          expect(seen.filter((status) => status === 429)).toHaveLength(17)
          expect(a.calls()).toEqual([3])
        },
        { maxInflight: 3 },
      )
    })
  },
)
