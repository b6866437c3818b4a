// The limits of the free pool: rolling windows per organization, one cap per UTC day for all, and the wait that a refusal names.
import { afterEach, describe, expect, it } from 'vitest'
import { answer, type PoolOptions, type PoolSite, poolSite } from './support.ts'

let s: PoolSite
afterEach(() => s.t.close())

const open = async (env: Record<string, string>, options: PoolOptions = {}) => {
  s = await poolSite({ env, ...options })
  return s
}

interface Refused {
  error: { code: string; type: string; message: string }
}

async function refused(response: Response): Promise<{ status: number; code: string; retryAfter: string | null }> {
  const { error } = (await response.json()) as Refused
  return { status: response.status, code: error.code, retryAfter: response.headers.get('retry-after') }
}

const MINUTE = 60_000
const jumpMinutes = (minutes: number) => s.clock.jump(minutes / 60)

describe('a rolling window', () => {
  it('gives tokens back when their minute has left it, and the refusal names that instant', async () => {
    await open({ FREE_TIER_TOKEN_LIMIT_HOUR: '250' })
    expect(await s.use(7)).toBe(200)
    jumpMinutes(10)
    expect(await s.use(7)).toBe(200)
    jumpMinutes(10)
    // 200 of 250 are used; the estimate of one more request does not fit before the first 100 leave.
    const { status, code, retryAfter } = await refused(await s.ask(7))
    expect({ status, code }).toEqual({ status: 429, code: 'free_tier_limit' })
    // Sent at 12:00, counted in the minute from 12:00 to 12:01, until 13:01. It is 12:20 now.
    expect(retryAfter).toBe(String(41 * 60))
    s.clock.jump((41 * MINUTE - 1) / 3_600_000)
    expect((await refused(await s.ask(7))).retryAfter).toBe('1')
    s.clock.jump(1 / 3_600_000)
    expect(await s.use(7)).toBe(200)
  })

  it.each([
    ['DAY', 24],
    ['WEEK', 7 * 24],
  ])('of a %s is as exact, over whole hours', async (name, hours) => {
    await open({ [`FREE_TIER_TOKEN_LIMIT_${name}`]: '150' })
    jumpMinutes(17)
    expect(await s.use(7)).toBe(200)
    jumpMinutes(60)
    const { retryAfter } = await refused(await s.ask(7))
    expect(retryAfter).toBe(String((hours * 60 + 1 - 60) * 60))
    jumpMinutes(hours * 60 - 60)
    expect((await refused(await s.ask(7))).retryAfter).toBe('60')
    jumpMinutes(1)
    expect(await s.use(7)).toBe(200)
  })

  it('waits for the window that opens last', async () => {
    await open({ FREE_TIER_TOKEN_LIMIT_HOUR: '150', FREE_TIER_TOKEN_LIMIT_DAY: '160' })
    expect(await s.use(7)).toBe(200)
    expect((await refused(await s.ask(7))).retryAfter).toBe(String((24 * 60 + 1) * 60))
  })

  it('refuses a request that can never fit without a wait', async () => {
    await open({ FREE_TIER_TOKEN_LIMIT_HOUR: '250' })
    expect(await refused(await s.ask(7, { max_tokens: 300 }))).toMatchObject({ code: 'free_tier_limit', retryAfter: null })
    expect(s.t.upstream.requests).toHaveLength(0)
  })

  it('reserves a share of the limit when the request sets no output limit', async () => {
    await open({ FREE_TIER_TOKEN_LIMIT_HOUR: '2000' })
    expect(await s.use(7, { max_tokens: undefined })).toBe(200)
  })

  it('of one organization leaves others alone', async () => {
    await open({ FREE_TIER_TOKEN_LIMIT_HOUR: '150' })
    expect(await s.use(7)).toBe(200)
    expect((await s.ask(7)).status).toBe(429)
    expect(await s.use(70)).toBe(200)
    expect(await s.use(0)).toBe(200)
  })
})

describe('the cap of all organizations', () => {
  it('refuses every organization until the next UTC midnight', async () => {
    await open({ FREE_POOL_GLOBAL_DAILY_TOKEN_CAP: '250' })
    expect(await s.use(7)).toBe(200)
    expect(await s.use(8)).toBe(200)
    const midnight = { status: 429, code: 'free_pool_exhausted', retryAfter: String(12 * 3600) }
    expect(await refused(await s.ask(7))).toEqual(midnight)
    expect(await refused(await s.ask(9))).toEqual(midnight)
    s.clock.jump(12)
    expect(await s.use(9)).toBe(200)
  })
})

describe('a reservation', () => {
  it('keeps parallel requests within the limit, and returns what was not used', async () => {
    let release: () => void = () => {}
    const held = new Promise<void>((resolve) => {
      release = resolve
    })
    await open({ FREE_TIER_TOKEN_LIMIT_HOUR: '1000' }, { upstream: [{ ...answer(5, 5), hold: () => held }] })
    let refusals = 0
    const asking = Array.from({ length: 30 }, async () => {
      const response = await s.ask(7)
      if (response.status === 429) refusals++
      await response.arrayBuffer()
    })
    await expect.poll(() => refusals + s.t.upstream.requests.length).toBe(30)
    const running = s.t.upstream.requests.length
    const { used } = await s.api<{ used: { hour: number } }>(7, '/api/free-pool')
    expect(used.hour).toBeLessThanOrEqual(1000)
    expect(used.hour + used.hour / running).toBeGreaterThan(1000)
    release()
    await Promise.all(asking)
    await s.t.untilCommitted(30)
    expect(await s.reserved()).toBe(0)
    const spent = running * 10
    expect((await s.api<{ used: object }>(7, '/api/free-pool')).used).toEqual({ hour: spent, day: spent, week: spent })
  })

  it('is released when every connection of the pool fails', async () => {
    await open({ FREE_TIER_TOKEN_LIMIT_HOUR: '1000' }, { upstream: [{ kind: 'fail', status: 500, message: 'down' }] })
    expect(await s.use(7)).toBe(500)
    expect((await s.api<{ used: { hour: number } }>(7, '/api/free-pool')).used.hour).toBe(0)
    expect(await s.reserved()).toBe(0)
  })

  it('of a stream that the caller leaves becomes what was delivered', async () => {
    const { reply } = await import('../../../adapters/testing/script.ts')
    const long = reply({ text: 'word '.repeat(40), usage: { input: 60, output: 40 } }, { stallAfter: 12 })
    await open({ FREE_TIER_TOKEN_LIMIT_HOUR: '1000' }, { upstream: [long] })
    const response = await s.ask(7, { stream: true })
    const reader = response.body?.getReader()
    await reader?.read()
    await reader?.cancel()
    await s.t.untilCommitted(1)
    const [row] = await s.rows()
    expect(row).toMatchObject({ status: 499, freePool: true, chargeNano: 0 })
    const counted = (row?.tokens.input ?? 0) + (row?.tokens.output ?? 0)
    expect(counted).toBeGreaterThan(0)
    expect((await s.api<{ used: { hour: number } }>(7, '/api/free-pool')).used.hour).toBe(counted)
    expect(await s.reserved()).toBe(0)
  })

  it('of a request whose process died is settled by the next sweep', async () => {
    const { recovery } = await import('../../../plugins/ledger/recovery.ts')
    const { instances } = await import('../../../plugins/ledger/instances.ts')
    let release: () => void = () => {}
    const held = new Promise<void>((resolve) => {
      release = resolve
    })
    await open({ FREE_TIER_TOKEN_LIMIT_HOUR: '1000' }, { upstream: [{ ...answer(5, 5), hold: () => held }] })
    const asking = s.ask(7)
    await expect.poll(() => s.t.upstream.requests.length).toBe(1)
    expect(await s.reserved()).toBeGreaterThan(0)
    // Another process finds the request of one that gave no sign for long.
    const { db, log } = s.inside
    s.clock.jump(1)
    const { sweep } = recovery({ db, clock: s.clock, log }, instances(db, s.clock), () => undefined)
    expect(await sweep()).toBe(1)
    expect(await s.reserved()).toBe(0)
    const [swept] = await s.rows()
    expect(swept).toMatchObject({ interrupted: true, freePool: true, orgId: 7 })
    const { used } = await s.api<{ used: { day: number } }>(7, '/api/free-pool')
    expect(used.day).toBe(swept?.tokens.input)
    // It lives after all: its own settlement corrects the tokens.
    release()
    await (await asking).arrayBuffer()
    await s.t.untilCommitted(1)
    expect((await s.api<{ used: { day: number } }>(7, '/api/free-pool')).used.day).toBe(10)
    expect(await s.reserved()).toBe(0)
  })
})
