// Caps of sessions: the limit for one caller's session header.
import { randomBytes } from 'node:crypto'
import { afterEach, describe, expect, it } from 'vitest'
import { whileTimePasses } from '../../support/passing-time.ts'
import { testPostgres, whyNoPostgres } from '../../support/postgres.ts'
import { bearer, errorOf } from '../keys/support.ts'
import { org, type Site, site, wallClock } from './support.ts'

let s: Site
afterEach(() => s.close())

const session = (id: string, key?: string) => ({ 'x-session-id': id, ...(key ? bearer(key) : {}) })

describe('a session', () => {
  it('may spend GATEWAY_SESSION_BUDGET_USD, each its own, and without one there is no cap', async () => {
    s = await site({ env: { SESSION_BUDGET_USD: '0.001' } })
    expect([await s.spend({}, session('a')), await s.spend({}, session('a'))]).toEqual([200, 402])
    expect(await s.spend({}, session('b'))).toBe(200)
    expect([await s.spend(), await s.spend()]).toEqual([200, 200])
    const refused = await s.ask({}, session('a'))
    expect(refused.headers.has('retry-after')).toBe(false)
    const error = await errorOf(refused)
    expect(error).toMatchObject({ type: 'insufficient_quota', code: 'budget_exhausted', param: null })
    expect(error.message).toContain('session `a`')
    expect(s.history).toEqual([])
  })

  it('of one key is not the one of another key that has the same name', async () => {
    s = await site({ env: { SESSION_BUDGET_USD: '0.001' } })
    const one = (await s.key()).key
    const other = (await s.key()).key
    expect([await s.spend({}, session('a', one)), await s.spend({}, session('a', one))]).toEqual([200, 402])
    expect(await s.spend({}, session('a', other))).toBe(200)
    expect(await s.spend({}, session('a'))).toBe(200)
  })

  it('has the cap of its key where that says one; null is the gateway’s, 0 is none', async () => {
    s = await site({ env: { SESSION_BUDGET_USD: '0.001' } })
    const [own, inherited, none] = [
      (await s.key({ session_budget_usd: 0.002 })).key,
      (await s.key({ session_budget_usd: null })).key,
      (await s.key({ session_budget_usd: 0 })).key,
    ] as const
    const spend = async (key: string) => {
      const statuses: number[] = []
      for (let i = 0; i < 3; i++) statuses.push(await s.spend({}, session('a', key)))
      return statuses
    }
    expect(await spend(own)).toEqual([200, 200, 402])
    expect(await spend(inherited)).toEqual([200, 402, 402])
    expect(await spend(none)).toEqual([200, 200, 200])
  })

  it('is capped by its key also where the gateway caps none', async () => {
    s = await site()
    const { key } = await s.key({ session_budget_usd: 0.001 })
    expect([await s.spend({}, session('a', key)), await s.spend({}, session('a', key))]).toEqual([200, 402])
    expect([await s.spend({}, session('a')), await s.spend({}, session('a'))]).toEqual([200, 200])
  })

  it('is held for like a budget: an explicit bound in full', async () => {
    s = await site({ env: { SESSION_BUDGET_USD: '0.001' } })
    expect(await s.spend({ max_tokens: 100 }, session('a'))).toBe(402)
    expect(s.t.upstream.requests).toHaveLength(0)
  })

  it('is forgotten a day after its last use', async () => {
    s = await site({ env: { SESSION_BUDGET_USD: '0.001' } })
    expect([await s.spend({}, session('a')), await s.spend({}, session('a'))]).toEqual([200, 402])
    s.clock.jump(23)
    expect(await s.spend({}, session('a'))).toBe(402)
    s.clock.jump(2)
    expect(await s.spend({}, session('a'))).toBe(200)
  })

  it('and a budget both have to cover the request', async () => {
    s = await site({ env: { SESSION_BUDGET_USD: '1' } })
    const { id } = await s.budget({ ...org, hard_limit_usd: 0.0015 })
    expect(await s.spend({}, session('a'))).toBe(200)
    expect(await s.spend({ max_tokens: 100 }, session('a'))).toBe(402)
    expect((await s.shown(id)).spend_usd).toBe(0.001)
    expect(await s.balance('session:0:0:a')).toEqual({ spent: 1_000_000, reserved: 0 })
  })
})

const missing = (await whyNoPostgres()) ?? ''
describe.skipIf(missing !== '')(`replicas over PostgreSQL${missing && ` (skipped: ${missing})`}`, () => {
  it('count one session together, and an increase or a new key’s budget holds in both', async () => {
    const database = await testPostgres()
    const env = {
      DATABASE_URL: database.url,
      MASTER_KEY: randomBytes(32).toString('base64'),
      SESSION_BUDGET_USD: '0.0015',
      DEFAULT_KEY_BUDGET_USD: '0.0025',
    }
    const clock = wallClock()
    s = await site({ env, ports: { clock } })
    const other = await site({ env, ports: { clock } })
    const { key } = await s.key()
    for (const path of ['/api/keys', '/api/budgets'])
      await whileTimePasses(clock, async () => (await other.api<{ data: object[] }>('GET', path)).body.data.length).toBe(1)
    expect(await s.spend({}, session('a', key))).toBe(200)
    expect(await other.spend({}, session('a', key))).toBe(200)
    await expect.poll(async () => (await s.balance('session:0:1:a')).spent).toBe(2_000_000)
    for (const replica of [s, other]) expect(await replica.spend({}, session('a', key))).toBe(402)
    // Another session: the key's own budget covers half a call more.
    for (const replica of [s, other]) expect(await replica.spend({ max_tokens: 60 }, session('b', key))).toBe(402)
    expect(s.t.upstream.requests.length + other.t.upstream.requests.length).toBe(2)
    await other.close()
    await s.close()
    await database.drop()
  })
})
