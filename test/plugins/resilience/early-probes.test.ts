// Early probes of open circuits, when a request has no other account (docs/routing.md).
import { afterEach, describe, expect, it } from 'vitest'
import { fakeClock } from '../../../adapters/testing/fake-clock.ts'
import { fail, hang, type Step, text } from '../../../adapters/testing/script.ts'
import { testPostgres, whyNoPostgres } from '../../support/postgres.ts'
import { patientRedis, REDIS_URL, reachedRedis, whyNoRedis } from '../../support/redis.ts'
import { MASTER_KEY } from '../connections/support.ts'
import { behind, until, type World, type WorldOptions, world } from './support.ts'

patientRedis()
const missing = [await whyNoPostgres(), await whyNoRedis()].filter((reason) => reason !== null).join('; ')
const EVERY_TWO = { settings: { breaker: { early_probe_secs: 2 } } }
let w: World
const open = async (options: WorldOptions) => {
  w = await world({ config: EVERY_TWO, ...options })
  return w
}
const times = async (count: number, run: () => Promise<unknown>) => {
  for (let i = 0; i < count; i++) await run()
}
/** One account whose circuit opens at once, and an upstream that keeps failing. */
const opened = async (options: WorldOptions = {}) => {
  await open({ accounts: [{ script: [fail(500)] }], ...options })
  await times(5, () => w.status())
  expect(await w.states()).toMatchObject([{ breaker: 'open' }])
}
const closings = () => w.told.filter(({ type }) => type === 'provider.circuit_closed')

describe('a request with nobody else to ask', () => {
  afterEach(() => w.close())

  it('looks at an open circuit two seconds after it opened, and closes it when the upstream is back', async () => {
    await opened()
    w.accounts[0]?.script(text('back'))
    await w.clock.advance(1999)
    expect(await w.status()).toBe(503)
    expect(w.calls()).toEqual([5])
    await w.clock.advance(1)
    expect(await w.status()).toBe(200)
    expect(closings()).toMatchObject([{ data: { open_for_ms: 2000 } }])
    expect(await w.states()).toMatchObject([{ breaker: 'closed', status: 'active' }])
  })

  it('is one of twenty', async () => {
    await opened()
    const { hold, counted } = behind(19)
    w.accounts[0]?.script(text('back', { hold }))
    await w.clock.advance('3s')
    const seen = await Promise.all(Array.from({ length: 20 }, () => counted(w.status())))
    expect([seen.filter((status) => status === 200).length, w.calls()]).toEqual([1, [6]])
  })

  it('that fails changes nothing about when the circuit is due, nor is anybody told', async () => {
    await opened()
    const told = w.types().filter((type) => type !== 'provider.outage')
    const [before] = await w.states()
    for (const second of [2, 4, 6]) {
      await w.clock.advance('2s')
      expect(await w.status(), `${second} s`).toBe(500)
      expect((await w.chat()).status, 'not twice in two seconds').toBe(503)
    }
    expect(w.calls()).toEqual([8])
    expect((await w.states())[0]?.cooldown_until).toBe(before?.cooldown_until)
    expect(w.types().filter((type) => type !== 'provider.outage')).toEqual(told)
    // Only the regular probe doubles the time.
    await w.clock.advance('24s')
    expect(await w.status()).toBe(500)
    expect((await w.chat()).headers.get('retry-after')).toBe('60')
  })

  it('looks at each of several, and no further when one of them let it wait', async () => {
    const script = [fail(500)]
    await open({ accounts: [{ script }, { script }, { script }], env: { UPSTREAM_IDLE_TIMEOUT_MS: '5000' } })
    await times(5, () => w.status())
    expect(w.calls()).toEqual([5, 5, 5])
    w.accounts[2]?.script(text('the third'))
    await w.clock.advance('2s')
    expect(await w.status()).toBe(200)
    expect(w.calls()).toEqual([6, 6, 6])
    w.accounts[2]?.script(fail(500))
    await times(5, () => w.status())
    w.accounts[0]?.script(hang())
    await w.clock.advance('3s')
    const [, second] = w.calls()
    const waiting = w.status()
    await until(() => w.calls()[0] === 7)
    await w.clock.advance('6s')
    expect(await waiting).toBe(504)
    expect(w.calls()[1]).toBe(second)
  })

  it.each([
    ['a cooldown', fail(503, { headers: { 'retry-after': '20' } }), 503],
    ['a lock of the model', fail(429, { headers: { 'retry-after': '20' } }), 429],
  ])('never looks during %s', async (_title, step, status) => {
    await open({ accounts: [{ script: [...Array(4).fill(fail(500)), step, fail(500)] }] })
    await times(5, () => w.status())
    if (status === 429) {
      // Its circuit opens through another model.
      expect(await w.status('other')).toBe(500)
    }
    expect(await w.states()).toMatchObject([{ breaker: 'open' }])
    const before = w.calls()
    for (let second = 2; second < 20; second += 3) {
      await w.clock.advance('3s')
      const refused = await w.chat()
      expect([refused.status, w.calls()], `${second} s`).toEqual([expect.any(Number), before])
    }
    await w.clock.advance('3s')
    w.accounts[0]?.script(text('back'))
    expect(await w.status()).toBe(200)
  })

  it('has somebody else: nobody looks, however often it asks', async () => {
    await open({ accounts: [{ script: [fail(500)] }, { script: [text('the other')] }] })
    await times(5, () => w.status())
    for (let i = 0; i < 5; i++) {
      await w.clock.advance('3s')
      expect(await w.status()).toBe(200)
    }
    expect(w.calls()).toEqual([5, 10])
  })

  it('counts an account without quota as nobody', async () => {
    const day = { 'x-ratelimit-limit': '100', 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': '5h' }
    const spent = text('the last one', { headers: day })
    await open({ accounts: [{ script: [fail(500)] }, { script: [...Array(4).fill(text('ok')), spent] }] })
    await times(5, () => w.status())
    w.accounts[0]?.script(text('back'))
    await w.clock.advance('2s')
    expect(await w.status()).toBe(200)
    expect(w.calls()).toEqual([6, 5])
  })

  it('goes on to it from a probe that was due and failed', async () => {
    const fine = Array(5).fill(text('ok'))
    await open({ accounts: [{ script: [fail(500)] }, { script: [...fine, fail(500)] }] })
    await times(5, () => w.status())
    await w.clock.advance('20s')
    await times(5, () => w.status())
    expect((await w.states()).map(({ breaker }) => breaker)).toEqual(['open', 'open'])
    w.accounts[1]?.script(text('back'))
    await w.clock.advance('10s')
    expect((await w.states()).map(({ breaker }) => breaker)).toEqual(['half_open', 'open'])
    expect(await w.status()).toBe(200)
    expect(w.attempts().map(({ action }) => action)).toEqual(['next_account', 'returned'])
    expect((await w.states()).map(({ breaker }) => breaker)).toEqual(['open', 'closed'])
  })

  it('never does unless `breaker.early_probe_secs` says so', async () => {
    await opened({ config: {} })
    await w.clock.advance('29s')
    expect([await w.status(), w.calls()]).toEqual([503, [5]])
  })
})

it.skipIf(missing !== '')(`is one over two gateways, and its failure holds for both${missing && ` (${missing})`}`, async () => {
  const database = await testPostgres()
  const env = { DATABASE_URL: database.url, REDIS_URL, MASTER_KEY, LIMITER_REDIS_FALLBACK: 'fail-closed' }
  const clock = fakeClock()
  // Enough time for a busy server to share the state between the two.
  const config = { settings: { breaker: { cooldown_secs: 600, early_probe_secs: 120 } } }
  const a = await world({ env, clock, config, accounts: [{ script: [fail(500)] }] })
  const b = await world({ env, clock, config, accounts: [{ baseUrl: a.accounts[0]?.baseUrl('chat') }] })
  /** Each reads the other's state about once per second of the clock. */
  const agreed = async (state: Record<string, unknown>) => {
    const seen = async () => {
      await clock.advance(50)
      return [(await a.states())[0], (await b.states())[0]]
    }
    await expect.poll(seen, { interval: 10, timeout: 20_000 }).toMatchObject([state, state])
  }
  const ten = [...Array(5).fill(a), ...Array(5).fill(b)] as World[]
  /** The request that reaches the upstream gets its answer after the other nine were refused. */
  const asked = async (answer: (hold: () => Promise<void>) => Step) => {
    const { hold, counted } = behind(9)
    a.accounts[0]?.script(answer(hold))
    return Promise.all(ten.map((one) => counted(one.status())))
  }
  try {
    await reachedRedis(a.t, b.t)
    await times(5, () => a.status())
    await agreed({ breaker: 'open' })
    await clock.advance('2m')
    expect((await asked((hold) => fail(500, { hold }))).filter((status) => status === 500)).toHaveLength(1)
    expect(a.calls()).toEqual([6])
    const failed = clock.monotonic()
    expect((await asked((hold) => fail(500, { hold }))).every((status) => status === 503)).toBe(true)
    await agreed({ consecutive_failures: 6 })
    await clock.advance(failed + 119_999 - clock.monotonic())
    expect((await asked((hold) => fail(500, { hold }))).every((status) => status === 503)).toBe(true)
    await clock.advance(1)
    expect((await asked((hold) => text('back', { hold }))).filter((status) => status === 200)).toHaveLength(1)
    expect(a.calls()).toEqual([7])
    await agreed({ breaker: 'closed' })
  } finally {
    await b.close()
    await a.close()
    await database.drop()
  }
})
