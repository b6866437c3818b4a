// The effects of an account's failures, through the gateway.
import { afterEach, describe, expect, it } from 'vitest'
import { fail, raw, type Step, text } from '../../../adapters/testing/script.ts'
import { errorIn, until, type World, type WorldOptions, world } from './support.ts'

let w: World
const open = async (options: WorldOptions) => {
  w = await world(options)
  return w
}
afterEach(() => w.close())

const limited = (headers: Record<string, string> = {}) => fail(429, { headers })

describe('a rate limit', () => {
  it('locks the model on this account only: the next account answers, another model still goes to the first', async () => {
    await open({ accounts: [{ script: [limited({ 'retry-after': '30' }), text('first')] }, { script: [text('second')] }] })
    expect(await w.status('a')).toBe(200)
    expect(w.calls()).toEqual([1, 1])
    expect(await w.status('a')).toBe(200)
    expect(w.calls()).toEqual([1, 2])
    expect(w.attempts()[0]).toMatchObject({ skipped: { reason: 'model_locked', until: w.clock.now() + 30_000 } })
    expect(await w.status('b')).toBe(200)
    expect(w.calls()).toEqual([2, 2])
    expect(w.told).toEqual([
      {
        type: 'account.cooldown_started',
        data: {
          provider: 'p',
          account_id: expect.any(String),
          occurred_at: expect.any(String),
          retry_after_seconds: 30,
          cooldown_until: new Date(w.clock.now() + 30_000).toISOString(),
          source: 'retry_after',
        },
      },
    ])
    expect((await w.states())[0]).toMatchObject({
      status: 'active',
      model_locks: [{ model: 'a', until: new Date(w.clock.now() + 30_000).toISOString(), reason: 'rate_limited' }],
    })
    await w.clock.advance('30s')
    expect(await w.status('a')).toBe(200)
    expect(w.calls()).toEqual([3, 2])
  })

  it.each<[string, Record<string, string>, string]>([
    ['seconds', { 'retry-after': '12' }, '12'],
    ['part of a second', { 'retry-after-ms': '120' }, '1'],
    ['a date', { 'retry-after': 'Wed, 01 Jan 2031 00:00:09 GMT', date: 'Wed, 01 Jan 2031 00:00:00 GMT' }, '9'],
    ['a date in the past', { 'retry-after': 'Wed, 01 Jan 2020 00:00:09 GMT' }, '1'],
    ['0', { 'retry-after': '0' }, '1'],
    ['a negative number: the backoff of its own', { 'retry-after': '-5' }, '2'],
    ['nonsense: the same', { 'retry-after': 'soon' }, '2'],
    ['a bucket that is empty', { 'x-ratelimit-remaining-tokens': '0', 'x-ratelimit-reset-tokens': '1m2s' }, '62'],
  ])('holds as long as the upstream says: %s', async (_name, headers, seconds) => {
    await open({ accounts: [{ script: [limited(headers), text('ok')] }] })
    const first = await w.chat()
    const second = await w.chat()
    expect([first.status, second.status]).toEqual([429, 429])
    expect(second.headers.get('retry-after')).toBe(seconds)
    expect((await errorIn(second)).code).toBe('rate_limited')
    await w.clock.advance(Number(seconds) * 1000 - 1)
    expect(await w.status()).toBe(429)
    expect(w.calls()).toEqual([1])
    await w.clock.advance(1)
    expect(await w.status()).toBe(200)
  })

  it('tells the caller when the first of all accounts is back, also of those that were not asked', async () => {
    const late = limited({ 'retry-after': '600' })
    await open({ accounts: [{ script: [limited({ 'retry-after': '30' })] }, { script: [text('ok'), late] }] })
    expect(await w.status()).toBe(200)
    const refused = await w.chat()
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '30'])
    expect(w.calls()).toEqual([1, 2])
  })

  it('longer than an hour is a quota: the whole account waits for it, and the event says so once', async () => {
    await open({ accounts: [{ script: [limited({ 'retry-after': '7200' }), text('ok')] }] })
    await w.status('a')
    const refused = await w.chat('b')
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '7200'])
    expect(w.told).toEqual([
      {
        type: 'account.quota_exhausted',
        data: { provider: 'p', account_id: expect.any(String), occurred_at: expect.any(String) },
      },
    ])
    expect(await w.states()).toMatchObject([
      { status: 'quota_exhausted', quota_exhausted: true, quota_resets_at: new Date(w.clock.now() + 7_200_000).toISOString() },
    ])
    await w.clock.advance('2h')
    expect(await w.status('a')).toBe(200)
    expect(await w.states()).toMatchObject([{ status: 'active', quota_exhausted: false }])
  })

  it('without a hint backs off 2, 4, 8 … 300 s; what ends is not forgotten, a success is', async () => {
    await open({ accounts: [{ script: [limited()] }] })
    const waits: number[] = []
    for (let i = 0; i < 10; i++) {
      await w.status()
      const wait = Number((await w.chat()).headers.get('retry-after'))
      waits.push(wait)
      await w.clock.advance(wait * 1000)
    }
    expect(waits).toEqual([2, 4, 8, 16, 32, 64, 128, 256, 300, 300])
    w.accounts[0]?.script(text('ok'), limited())
    expect(await w.status()).toBe(200)
    await w.status()
    expect((await w.chat()).headers.get('retry-after')).toBe('2')
  })

  it('of ten callers at once raises the backoff once, and is one event', async () => {
    await open({ accounts: [{ script: [fail(429, { hold: () => until(() => w.calls()[0] === 10) })] }] })
    await Promise.all(Array.from({ length: 10 }, () => w.status()))
    expect(w.calls()).toEqual([10])
    expect((await w.chat()).headers.get('retry-after')).toBe('2')
    expect(w.types()).toEqual(['account.cooldown_started'])
  })

  it('is one event of the account, however many models are asked for', async () => {
    await open({ accounts: [{ script: [limited({ 'retry-after': '30' })] }] })
    for (let name = 0; name < 50; name++) await w.status(`invented-${name}`)
    expect(w.calls()).toEqual([50])
    expect(w.types()).toEqual(['account.cooldown_started'])
    await w.clock.advance(30_000)
    await w.status('invented-0')
    expect(w.types()).toHaveLength(2)
  })

  it('never shortens what is there', async () => {
    const hold = () => until(() => w.calls()[0] === 2)
    const script = ['60', '5'].map((seconds) => ({ ...limited({ 'retry-after': seconds }), hold }))
    await open({ accounts: [{ script }] })
    await Promise.all([w.status(), w.status()])
    expect((await w.chat()).headers.get('retry-after')).toBe('60')
    expect(w.types()).toEqual(['account.cooldown_started'])
  })

  it('of the whole account keeps every model away from it', async () => {
    const wide = fail(429, { message: 'Too many concurrent requests.', headers: { 'retry-after': '9' } })
    await open({ accounts: [{ script: [wide, text('ok')] }] })
    await w.status('a')
    expect((await w.chat('b')).headers.get('retry-after')).toBe('9')
    expect(await w.states()).toMatchObject([{ status: 'cooldown', cooldown_source: 'retry_after', model_locks: [] }])
  })
})

interface Row {
  row: string
  step: Step
  /** The status of the first caller's answer; `second`: of the second caller's. */
  first: number
  second: number
  state: Record<string, unknown>
  /** Seconds until the account is called again; null: it never stopped. */
  out: number | null
}

const lock = (reason: string, model = 'm') => ({ status: 'active', model_locks: [{ model, reason }] })
const free = { status: 'active', model_locks: [], cooldown_until: null, quota_exhausted: false }

describe('the Router column of the fault matrix', () => {
  it.each<[string, Row]>(
    (
      [
        { row: '20: a redirect', step: raw(302, ''), first: 502, second: 502, state: lock('misconfigured', '*'), out: 60 },
        { row: '22: a 400', step: fail(400), first: 400, second: 200, state: free, out: null },
        { row: '25: a 402', step: fail(402), first: 502, second: 429, state: { status: 'cooldown' }, out: 120 },
        {
          row: '25: a 400 that means money',
          first: 502,
          second: 429,
          out: 3600,
          step: fail(400, { message: 'Your credit balance is too low to access the API.' }),
          state: { status: 'quota_exhausted' },
        },
        { row: '24: a 403', step: fail(403), first: 502, second: 502, state: lock('permission'), out: 120 },
        { row: '26: a 404', step: fail(404), first: 404, second: 404, state: lock('not_found'), out: 120 },
        {
          row: '26: a 404 of something else',
          first: 404,
          second: 200,
          state: free,
          out: null,
          step: fail(404, { message: 'Previous response with id x not found.', param: 'previous_response_id' }),
        },
        { row: '27: a 409', step: fail(409), first: 409, second: 200, state: { ...free, consecutive_failures: 0 }, out: null },
        { row: '27: a 408', step: fail(408), first: 408, second: 200, state: { ...free, consecutive_failures: 1 }, out: null },
        { row: '28: a 413', step: fail(413), first: 413, second: 200, state: free, out: null },
        {
          row: '31: a 429 that means money',
          first: 429,
          second: 429,
          out: 3600,
          step: fail(429, { code: 'insufficient_quota', message: 'You exceeded your current quota.' }),
          state: { status: 'quota_exhausted' },
        },
        {
          row: '32: a 503 with Retry-After',
          first: 503,
          second: 429,
          out: 4,
          step: fail(503, { headers: { 'retry-after': '4' } }),
          state: { status: 'cooldown', consecutive_failures: 1 },
        },
        {
          row: '33: a 529',
          step: fail(529),
          first: 503,
          second: 429,
          state: { status: 'cooldown', consecutive_failures: 1 },
          out: 5,
        },
        { row: 'nothing known: a 418', step: fail(418), first: 418, second: 429, state: { status: 'cooldown' }, out: 30 },
      ] satisfies Row[]
    ).map((row) => [row.row, row]),
  )('row %s', async (_name, { step, first, second, state, out }) => {
    await open({ accounts: [{ script: [step, text('ok')] }] })
    expect(await w.status()).toBe(first)
    expect((await w.states())[0]).toMatchObject(state)
    const next = await w.chat()
    expect(next.status).toBe(second)
    expect(w.calls()).toEqual([out === null ? 2 : 1])
    if (out === null) return
    if (second !== 502) expect(next.headers.get('retry-after')).toBe(String(out))
    await w.clock.advance(out * 1000)
    expect(await w.status()).toBe(200)
    expect((await w.states())[0]).toMatchObject(free)
  })

  it('a 400 that only quotes words about money shuts nothing down', async () => {
    await open({ accounts: [{ script: [fail(400, { message: 'Invalid value: "insufficient_quota, billing".' }), text('ok')] }] })
    await w.status()
    expect((await w.states())[0]).toMatchObject(free)
  })

  it('a model that one account does not have is asked of the next one', async () => {
    await open({ accounts: [{ script: [fail(404)] }, { script: [text('ok')] }] })
    expect([await w.status('a'), await w.status('a')]).toEqual([200, 200])
    expect(w.calls()).toEqual([1, 2])
    expect(w.attempts()[0]).toMatchObject({ skipped: { reason: 'model_locked' } })
  })

  it('a refused key is left alone, however long, until the connection is changed', async () => {
    await open({ accounts: [], config: { connections: {} }, upstream: [fail(401), text('ok')] })
    const call = (method: string, path: string, body: object) =>
      w.t.fetch(path, { method, headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) })
    const made = await call('POST', '/api/providers', {
      provider: 'p',
      base_url: w.t.upstream.baseUrl('chat'),
      wire_format: 'chat',
      api_key: 'sk-revoked',
    })
    const { id } = (await made.json()) as { id: number }
    expect(await w.status()).toBe(502)
    await w.clock.advance('10m')
    expect(await w.status()).toBe(502)
    expect(w.t.upstream.requests).toHaveLength(1)
    expect(await w.states()).toMatchObject([{ status: 'auth_failed', last_error: { status: 401 } }])
    // Another name or another connection is not another key.
    expect((await call('PUT', `/api/providers/${id}`, { label: 'renamed' })).status).toBe(200)
    expect((await call('POST', '/api/providers', { provider: 'echo' })).status).toBe(201)
    expect(await w.status()).toBe(502)
    expect(w.t.upstream.requests).toHaveLength(1)
    expect((await call('PUT', `/api/providers/${id}`, { api_key: 'sk-new' })).status).toBe(200)
    expect((await w.states())[0]).toMatchObject({ status: 'active' })
    expect(await w.status()).toBe(200)
  })

  it('a test of the connection goes through whatever its state is, and what it finds out counts', async () => {
    await open({ accounts: [{ script: [fail(401), text('ok')] }] })
    await w.status()
    expect(await w.status()).toBe(502)
    const id = Number(w.told[0]?.data.account_id ?? (await listed()).id)
    const verdict = await w.t.fetch(`/api/providers/${id}/test`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'm' }),
    })
    expect(await verdict.json()).toMatchObject({ ok: true })
    expect(await w.status()).toBe(200)
  })

  async function listed(): Promise<{ id: number }> {
    return ((await (await w.t.fetch('/api/providers')).json()) as { data: [{ id: number }] }).data[0]
  }
})
