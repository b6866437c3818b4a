// Admission by budgets: reservations against limits, which budget refuses, and the text of a refusal.
import { afterEach, describe, expect, it } from 'vitest'
import { hang, reply } from '../../../adapters/testing/script.ts'
import { definePlugin } from '../../../core/plugins/define.ts'
import { bearer, errorOf } from '../keys/support.ts'
import { org, type Site, site, turns, used } from './support.ts'

let s: Site
afterEach(() => s.close())

const DAY_END = 43_200

describe('a budget', () => {
  it('that is tiny lets the first call through when its caller gave no bound; the next is 402', async () => {
    s = await site()
    const { id } = await s.budget({ ...org, hard_limit_usd: 0.0005 })
    expect(await s.spend()).toBe(200)
    expect(await s.shown(id)).toMatchObject({ spend_usd: 0.001, reserved_usd: 0, remaining_usd: -0.0005, percent_used: 200 })
    const refused = await s.ask()
    expect(refused.status).toBe(402)
    expect(refused.headers.get('retry-after')).toBe(String(DAY_END))
    const error = await errorOf(refused)
    expect(error).toMatchObject({ type: 'insufficient_quota', code: 'budget_exhausted', param: null })
    expect(error.message).toBe(
      'The daily budget of the organization is used up: its limit is 0.0005 USD. It resets at 2026-11-22T00:00:00.000Z. Ask your gateway administrator to raise it.',
    )
    expect(s.t.upstream.requests).toHaveLength(1)
  })

  it('of 0 blocks everything, also what has no price', async () => {
    s = await site()
    await s.budget({ ...org, hard_limit_usd: 0 })
    expect(await s.spend()).toBe(402)
    expect(await s.spend({ model: 'chat/free' })).toBe(402)
    expect(s.t.upstream.requests).toHaveLength(0)
  })

  it('that is disabled blocks and counts nothing; enabled again it knows what was spent', async () => {
    s = await site()
    const { id } = await s.budget({ ...org, hard_limit_usd: 0.001, enabled: false })
    expect([await s.spend(), await s.spend()]).toEqual([200, 200])
    expect((await s.shown(id)).spend_usd).toBe(0)
    // Usage rows are read when the window changes or counting begins, not for another limit.
    expect((await s.api('PUT', `/api/budgets/${id}`, { hard_limit_usd: 0.0015 })).body.spend_usd).toBe(0)
    expect((await s.api('PUT', `/api/budgets/${id}`, { enabled: true })).body.spend_usd).toBe(0.002)
    expect(await s.spend()).toBe(402)
  })

  // Output costs 10,000 nano-USD per token: 100 tokens are 0.001 USD.
  it.each<[string, object, number, number]>([
    ['an explicit bound fits exactly', { max_tokens: 100 }, 0.0012, 200],
    ['an explicit bound is held in full', { max_tokens: 100 }, 0.001, 402],
    ['`max_completion_tokens` is one, too', { max_completion_tokens: 100 }, 0.001, 402],
    ['each of n choices is held', { max_tokens: 50, n: 2 }, 0.001, 402],
    ['a thinking budget above the bound counts', { max_tokens: 1, reasoning: { max_tokens: 100 } }, 0.001, 402],
    ['no bound is held as a tenth of the limit at most', {}, 0.00001, 200],
    ['what has no price holds nothing', { model: 'chat/free', max_tokens: 1e9 }, 0.001, 200],
    ['a bound beyond all measure is refused, not a fault', { max_tokens: 1e15, n: 128 }, 1_000_000, 402],
  ])('where %s: %j of %d USD is %d', async (_name, body, hard_limit_usd, status) => {
    s = await site({ upstream: [used(0, 0)] })
    await s.budget({ ...org, hard_limit_usd })
    expect(await s.spend(body)).toBe(status)
  })

  it('keeps back what a request can cost while it runs, and nothing afterwards', async () => {
    s = await site({ upstream: [hang()] })
    const { id } = await s.budget({ ...org, hard_limit_usd: 1 })
    const leaving = new AbortController()
    const body = JSON.stringify({ model: 'chat/m', messages: [{ role: 'user', content: 'hi' }], max_tokens: 100 })
    const init = { method: 'POST', body, headers: { 'content-type': 'application/json' }, signal: leaving.signal }
    const asked = s.t.fetch('/v1/chat/completions', init)
    await expect.poll(() => s.t.upstream.requests.length, { interval: 1 }).toBe(1)
    // Two bytes per token, 8 per message, 100 output.
    const expected = (Math.ceil(body.length / 2) + 8) * 1e-6 + 100 * 1e-5
    expect((await s.shown(id)).reserved_usd).toBeCloseTo(expected, 9)
    leaving.abort()
    await asked.catch(() => {})
    await s.t.untilSettled(1)
    await turns()
    expect(await s.shown(id)).toMatchObject({ reserved_usd: 0, spend_usd: 0 })
    // Afterwards no reservation is left that blocks a request.
    s.t.upstream.script(used(0, 1))
    expect(await s.spend({ max_tokens: 99_000 })).toBe(200)
  })

  it('is charged for what a caller got of a stream before leaving it', async () => {
    const text = 'A long answer. '.repeat(40)
    s = await site({ upstream: [reply({ text, usage: { input: 0, output: 1000 }, chunk: 15 }, { everyMs: 20 })] })
    const { id } = await s.budget({ ...org, hard_limit_usd: 1 })
    const leaving = new AbortController()
    const body = JSON.stringify({ model: 'chat/m', messages: [{ role: 'user', content: 'hi' }], stream: true })
    const init = { method: 'POST', body, headers: { 'content-type': 'application/json' }, signal: leaving.signal }
    const reader = (await s.t.fetch('/v1/chat/completions', init)).body?.getReader()
    for (let read = ''; !read.includes('answer'); ) read += new TextDecoder().decode((await reader?.read())?.value)
    leaving.abort()
    await reader?.cancel().catch(() => {})
    await s.t.untilSettled(1)
    await turns()
    expect(s.t.settled[0]?.outcome.status).toBe(499)
    const { spend_usd, reserved_usd } = await s.shown(id)
    expect(reserved_usd).toBe(0)
    expect(spend_usd).toBeGreaterThan(0)
    expect(spend_usd).toBeLessThan(0.0015)
  })

  it('admits exactly as many parallel requests as it covers', async () => {
    s = await site({ upstream: [used(0, 100)] })
    const { id } = await s.budget({ ...org, hard_limit_usd: 0.0105 })
    const answers = await Promise.all(Array.from({ length: 50 }, () => s.ask({ max_tokens: 96 })))
    await Promise.all(answers.map((answer) => answer.arrayBuffer()))
    await s.t.untilSettled(50)
    await turns()
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(10)
    expect(answers.filter(({ status }) => status === 402)).toHaveLength(40)
    expect(s.t.upstream.requests).toHaveLength(10)
    expect(await s.shown(id)).toMatchObject({ spend_usd: 0.01, reserved_usd: 0 })
  })

  it('books to the window in which the request began', async () => {
    s = await site({ now: Date.UTC(2026, 10, 21, 23, 59, 59), upstream: [{ ...used(0, 100), delayMs: 1000 }] })
    const { id } = await s.budget({ ...org, hard_limit_usd: 1 })
    const asked = s.ask()
    await expect.poll(() => s.t.upstream.requests.length, { interval: 1 }).toBe(1)
    s.clock.jump(1)
    expect((await asked).status).toBe(200)
    await s.t.untilSettled(1)
    expect(await s.balance(`budget:${id}`, Date.UTC(2026, 10, 21))).toEqual({ spent: 1_000_000, reserved: 0 })
    expect(await s.balance(`budget:${id}`, Date.UTC(2026, 10, 22))).toEqual({ spent: 0, reserved: 0 })
    expect(await s.shown(id)).toMatchObject({ spend_usd: 0, window_start: '2026-11-22T00:00:00.000Z' })
  })

  it('holds there, too, where midnight passes between the first byte and the reservation', async () => {
    const slow = definePlugin({
      name: 'test-slow',
      setup: (gateway) => gateway.hook('access', () => s.clock.jump(1)),
    })
    s = await site({ now: Date.UTC(2026, 10, 21, 23, 59, 59), upstream: [hang()], plugins: [slow()] })
    const { id } = await s.budget({ ...org, hard_limit_usd: 1 })
    const leaving = new AbortController()
    const body = JSON.stringify({ model: 'chat/m', messages: [{ role: 'user', content: 'hi' }] })
    const init = { method: 'POST', body, headers: { 'content-type': 'application/json' }, signal: leaving.signal }
    const asked = s.t.fetch('/v1/chat/completions', init).catch(() => {})
    await expect.poll(() => s.t.upstream.requests.length, { interval: 1 }).toBe(1)
    expect((await s.balance(`budget:${id}`, Date.UTC(2026, 10, 21))).reserved).toBeGreaterThan(0)
    expect((await s.balance(`budget:${id}`, Date.UTC(2026, 10, 22))).reserved).toBe(0)
    leaving.abort()
    await asked
    await s.t.untilSettled(1)
  })

  it('is whole again when its window ends', async () => {
    s = await site()
    await s.budget({ ...org, window: 'hourly', hard_limit_usd: 0.0005 })
    expect([await s.spend(), await s.spend()]).toEqual([200, 402])
    s.clock.jump(1)
    expect([await s.spend(), await s.spend()]).toEqual([200, 402])
  })

  it('that lasts for ever says no time to come back at', async () => {
    s = await site()
    await s.budget({ ...org, window: 'lifetime', hard_limit_usd: 0 })
    const refused = await s.ask()
    expect(refused.status).toBe(402)
    expect(refused.headers.has('retry-after')).toBe(false)
  })
})

describe('of several budgets', () => {
  it('all have to cover the request and all are booked; the key is named before the virtual model before the organization', async () => {
    s = await site()
    const { id: keyId, key } = await s.key({ label: 'ci-bot' })
    const model = await s.api('POST', '/api/virtual-models', { name: 'smart', strategy: 'failover', targets: ['chat/m'] })
    expect(model.status).toBe(201)
    const limits = { hard_limit_usd: 1 }
    const ofKey = await s.budget({ scope: 'key', entity_id: keyId, window: 'monthly', ...limits })
    const ofModel = await s.budget({ scope: 'virtual_model', entity_label: 'smart', window: 'weekly', ...limits })
    const ofOrg = await s.budget({ ...org, ...limits })
    const ask = () => s.spend({ model: 'smart' }, bearer(key))
    expect(await ask()).toBe(200)
    for (const { id } of [ofKey, ofModel, ofOrg]) expect((await s.shown(id)).spend_usd).toBe(0.001)
    // Another model and another key, so only the organization's budget applies.
    expect(await s.spend()).toBe(200)
    expect([(await s.shown(ofKey.id)).spend_usd, (await s.shown(ofModel.id)).spend_usd]).toEqual([0.001, 0.001])
    expect((await s.shown(ofOrg.id)).spend_usd).toBe(0.002)

    const refusal = async () => (await errorOf(await s.ask({ model: 'smart' }, bearer(key)))).message
    const limit = (id: number, hard_limit_usd: number) => s.api('PUT', `/api/budgets/${id}`, { hard_limit_usd })
    await limit(ofOrg.id, 0.001)
    expect(await refusal()).toContain('daily budget of the organization')
    await limit(ofModel.id, 0.001)
    expect(await refusal()).toContain('weekly budget of the virtual model `smart`')
    await limit(ofKey.id, 0.001)
    expect(await refusal()).toContain('monthly budget of the client key `ci-bot`')
    // Also when it is not exhausted but does not cover the request: the reservation fails.
    for (const { id } of [ofKey, ofModel, ofOrg]) await limit(id, 0.0015)
    await limit(ofOrg.id, 1)
    const { message } = await errorOf(await s.ask({ model: 'smart', max_tokens: 100 }, bearer(key)))
    expect(message).toContain('client key `ci-bot` does not cover the possible cost of this request')
    expect(s.t.upstream.requests).toHaveLength(2)
  })

  it('one that another organization has, or of a key that is not used, is none of it', async () => {
    s = await site()
    const one = await s.key()
    const other = await s.key()
    await s.budget({ scope: 'key', entity_id: one.id, window: 'daily', hard_limit_usd: 0 })
    expect(await s.spend({}, bearer(one.key))).toBe(402)
    expect(await s.spend({}, bearer(other.key))).toBe(200)
    expect(await s.spend()).toBe(200)
  })
})

describe('a refusal', () => {
  const message = { role: 'user', content: 'hi' }
  it.each<[string, string, object, Record<string, string>]>([
    ['chat', '/v1/chat/completions', { model: 'chat/m', messages: [message] }, {}],
    ['messages', '/v1/messages', { model: 'chat/m', messages: [message], max_tokens: 9 }, { 'anthropic-version': '2023-06-01' }],
    ['responses', '/v1/responses', { model: 'chat/m', input: 'hi' }, {}],
    [
      'generate_content',
      '/v1beta/models/chat%2Fm:generateContent',
      { contents: [{ role: 'user', parts: [{ text: 'hi' }] }] },
      {},
    ],
  ])('reaches a %s caller as 402 with the time to come back, before anything else is said', async (_dialect, path, body, headers) => {
    s = await site()
    await s.budget({ ...org, hard_limit_usd: 0 })
    const { url } = await s.t.listen()
    for (const stream of [false, true]) {
      const streamed = path.startsWith('/v1beta') ? path.replace('generateContent', 'streamGenerateContent?alt=sse') : path
      const response = await fetch(`${url}${stream ? streamed : path}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...headers },
        body: JSON.stringify(stream && !path.startsWith('/v1beta') ? { ...body, stream } : body),
      })
      expect(response.status).toBe(402)
      expect(response.headers.get('retry-after')).toBe(String(DAY_END))
      expect(response.headers.get('content-type')).toContain('application/json')
      const error = await errorOf(response)
      expect(error).toMatchObject({ type: 'insufficient_quota', code: 'budget_exhausted', param: null })
      expect(error.message).toContain('daily budget of the organization')
    }
    expect(s.t.upstream.requests).toHaveLength(0)
  })
})

describe('counting tokens', () => {
  it('costs nothing and is not refused', async () => {
    s = await site()
    await s.budget({ ...org, hard_limit_usd: 0 })
    const counted = await s.t.post('/v1/messages/count_tokens', { model: 'chat/m', messages: [{ role: 'user', content: 'hi' }] })
    expect(counted.status).toBe(200)
  })
})
