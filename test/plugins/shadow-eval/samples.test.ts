// Which requests become samples, and what happens to a sample.
import { afterEach, describe, expect, it } from 'vitest'
import { reply, text } from '../../../adapters/testing/script.ts'
import { makeKey } from '../keys/support.ts'
import { DAY, type Site, site, USAGE } from './support.ts'

let s: Site
afterEach(() => s?.t.close())

describe('a sample', () => {
  it('is replayed on the cheap model, scored and booked under its own source', async () => {
    s = await site()
    expect((await s.ask()).status).toBe(200)
    const { data, summary, today } = await s.replayed()
    expect(data).toEqual([
      expect.objectContaining({
        served_model: 'chat/dear',
        challenger: 'chat/cheap',
        served_cost_usd: 0.0018,
        challenger_cost_usd: 0.00018,
        state: 'scored',
        score: 1,
        method: 'exact',
        confidence: 'normal',
        error: null,
      }),
    ])
    const pair = { served_model: 'chat/dear', challenger: 'chat/cheap' }
    expect(summary).toEqual([{ ...pair, samples: 1, score: 1, compared_samples: 1, compared_score: 1 }])
    expect(today).toMatchObject({ spent_usd: 0.00018, reserved_usd: 0, stopped_until: null })
    expect(s.models()).toEqual(['dear', 'cheap'])
    const reports = await s.api<{ data: object[] }>('GET', '/api/reports?group_by=source&since=2026-11-01')
    expect(reports.body.data).toEqual([
      expect.objectContaining({ source: 'api', requests: 1, cost_usd: 0.0018 }),
      expect.objectContaining({ source: 'shadow', requests: 1, cost_usd: 0.00018 }),
    ])
  })

  it('has the same conversation, without what belongs to the caller', async () => {
    s = await site()
    const tools = [{ type: 'function', function: { name: 'look', parameters: { type: 'object', properties: {} } } }]
    await s.ask({ tools, temperature: 0.5, user: 'end-user-7', metadata: { a: 'b' }, service_tier: 'priority', max_tokens: 77 })
    await s.replayed()
    const [served, replayed] = s.t.upstream.requests.map(({ json }) => json)
    expect(replayed).toMatchObject({ model: 'cheap', messages: served?.messages, tools: served?.tools, temperature: 0.5 })
    for (const name of ['user', 'metadata', 'service_tier']) expect(replayed).not.toHaveProperty(name)
    expect(replayed?.max_tokens ?? replayed?.max_completion_tokens).toBe(77)
  })

  it('is taken of a stream, too', async () => {
    s = await site()
    s.answers.set('cheap', { text: 'Yes.', usage: USAGE })
    const { status, text: body } = await s.ask({ stream: true })
    expect([status, body.includes('[DONE]')]).toEqual([200, true])
    expect((await s.replayed()).data).toEqual([expect.objectContaining({ state: 'scored', method: 'exact', score: 1 })])
  })

  it('is deleted at its time to live, with its scores', async () => {
    s = await site({ env: { SHADOW_TTL_DAYS: '2' } })
    await s.ask()
    await s.replayed()
    s.jump(2 * DAY - 60_000)
    expect((await s.shadow()).data).toHaveLength(1)
    s.jump(60_000)
    expect(await s.shadow()).toMatchObject({ data: [], summary: [] })
    await s.clock.advance('12m')
    expect((await s.api('DELETE', '/api/shadow?all=true')).body).toEqual({ deleted: 0 })
  })

  it('waits while its account is resting', async () => {
    s = await site({ settings: { 'breaker.failure_threshold': 1 } })
    await s.ask()
    await s.sampled(1)
    s.answers.set('cheap', () => ({
      ...text(''),
      kind: 'fail',
      status: 429,
      message: 'slow down',
      headers: { 'retry-after': '90' },
    }))
    await s.clock.advance('17s')
    for (let tries = 0; tries < 50 && !s.models().includes('cheap'); tries++) await new Promise((done) => setTimeout(done, 5))
    s.answers.set('cheap', { text: 'Yes.' })
    await s.clock.advance('50s')
    expect((await s.shadow()).data[0]?.state).toBe('queued')
    expect((await s.replayed()).data[0]).toMatchObject({ state: 'scored', score: 1 })
    expect(s.models()).toEqual(['dear', 'cheap', 'cheap'])
  })

  it('fails when the cheap model does, and names the code alone', async () => {
    s = await site()
    s.answers.set('cheap', () => ({ kind: 'fail', status: 400, message: 'bad: Question 1?' }))
    await s.ask()
    const { data } = await s.replayed()
    expect(data[0]).toMatchObject({ state: 'failed', score: null, method: null })
    expect(JSON.stringify(data)).not.toContain('Question')
  })
})

describe('no sample', () => {
  const nothing = async () => {
    await s.clock.advance('1s')
    await s.t.gateway.committed()
    await s.clock.advance('35s')
    expect((await s.shadow()).data).toEqual([])
    expect(s.models()).not.toContain('cheap')
  }

  it('is taken while it is off', async () => {
    s = await site({ env: { SHADOW_EVAL_ENABLED: 'false' } })
    await s.ask()
    await nothing()
  })

  it('is taken with the header', async () => {
    s = await site()
    await s.ask({}, { 'x-gateway-shadow': 'off' })
    await s.ask({ stream: true }, { 'x-gateway-shadow': 'off' })
    await s.ask({}, { 'helicone-omit-request': 'true' })
    await s.ask({}, { 'helicone-omit-response': 'true' })
    await nothing()
  })

  it('is taken of a key that opted out', async () => {
    s = await site()
    const key = await makeKey(s.t, { label: 'private', shadow_opt_out: true })
    await s.ask({}, { authorization: `Bearer ${key.key}` })
    await nothing()
    await s.api('PATCH', `/api/keys/${key.id}`, { shadow_opt_out: false })
    await s.ask({}, { authorization: `Bearer ${key.key}` })
    expect((await s.sampled(1)).data[0]?.key_id).toBe(key.id)
  })

  it('is taken of an organization that opted out', async () => {
    s = await site({ settings: { 'shadow.opt_out': true } })
    await s.ask()
    await nothing()
  })

  it.each([
    [
      'a picture',
      { messages: [{ role: 'user', content: [{ type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } }] }] },
    ],
    ['several answers', { n: 2 }],
    ['a tool of the vendor', { web_search_options: {} }],
  ])('is taken of %s', async (_name, body) => {
    s = await site()
    await s.ask(body)
    await nothing()
  })

  it('is taken of failures, cut answers and cached answers', async () => {
    s = await site({ settings: { 'exact_cache.ttl_ms': 60_000 }, config: {} })
    s.answers.set('dear', () => ({ kind: 'fail', status: 400, message: 'no' }))
    await s.ask()
    s.answers.set('dear', { text: 'Once upon', finish: 'length' })
    await s.ask()
    s.answers.delete('dear')
    const same = { messages: [{ role: 'user', content: 'same' }] }
    await s.ask(same, { 'x-gateway-shadow': 'off' })
    await s.ask(same)
    expect(s.models().filter((model) => model === 'dear')).toHaveLength(3)
    await nothing()
  })

  it('is taken when a guardrail found something', async () => {
    s = await site({ settings: { 'guardrails.enabled': true, 'guardrails.pii.mode': 'redact' } })
    await s.ask({ messages: [{ role: 'user', content: 'Write to jane.doe@example.com about 4111 1111 1111 1111.' }] })
    expect(s.t.settled[0]?.ctx.notes).toHaveProperty('guardrails')
    await nothing()
  })

  it('is taken when no target is cheap enough', async () => {
    s = await site({ config: { virtualModels: { work: { strategy: 'failover', targets: ['chat/dear', 'messages/dear'] } } } })
    await s.ask()
    await nothing()
  })

  it('is taken of more than the rate', async () => {
    const draws = [0.6, 0.4, 0.5]
    s = await site({ env: { SHADOW_SAMPLE_RATE: '0.5' }, preset: { shadowEval: { random: () => draws.shift() ?? 0.9 } } })
    for (let count = 0; count < 4; count++) await s.ask()
    await s.sampled(1)
    await s.clock.advance('1s')
    const { data } = await s.shadow()
    expect(data.map(({ request_id }) => request_id)).toEqual([s.t.settled[1]?.ctx.id])
  })
})

describe('work after the answer', () => {
  it('begins when the caller has its whole answer, and holds nobody up', async () => {
    s = await site()
    s.answers.set('cheap', () => reply({ text: 'Yes.', usage: USAGE }))
    const before = s.t.upstream.requests.length
    expect((await s.ask()).text).toContain('Yes.')
    // The clock stands still, and with it the work: nothing is written or asked yet.
    expect((await s.shadow()).data).toEqual([])
    expect(s.t.upstream.requests.length - before).toBe(1)
    await s.replayed()
    expect(s.models()).toEqual(['dear', 'cheap'])
  })
})

describe('deletion and export', () => {
  it('take a key, a user or everything', async () => {
    s = await site()
    const key = await makeKey(s.t, { label: 'a' })
    await s.ask({}, { authorization: `Bearer ${key.key}`, 'x-gateway-user-id': 'ada' })
    await s.ask({}, { 'x-gateway-user-id': 'bob' })
    await s.ask()
    await s.sampled(3)
    const exported = await (await s.t.fetch('/api/shadow/export?user_id=ada')).text()
    expect(exported.trim().split('\n')).toHaveLength(1)
    expect(exported).toContain('Question 1?')
    expect((await s.api('DELETE', '/api/shadow')).status).toBe(400)
    expect((await s.api('DELETE', '/api/shadow?user_id=bob')).body).toEqual({ deleted: 1 })
    expect((await s.api('DELETE', `/api/shadow?key_id=${key.id}`)).body).toEqual({ deleted: 1 })
    expect((await s.shadow()).data).toHaveLength(1)
    expect((await s.api('DELETE', '/api/shadow?all=true')).body).toEqual({ deleted: 1 })
  })
})
