// A row for every exchange, however it ended.
import { afterEach, describe, expect, it } from 'vitest'
import { broken, fail, hang, text } from '../../../adapters/testing/script.ts'
import type { TestGateway } from '../../../adapters/testing/test-gateway.ts'
import { GatewayError } from '../../../core/errors/gateway-error.ts'
import { definePlugin } from '../../../core/plugins/define.ts'
import type { CanonicalRequest } from '../../../core/types/request/canonical.ts'
import { bearer, makeKey } from '../keys/support.ts'
import { ask, detail, loggingGateway, logs, metric } from './support.ts'

let t: TestGateway
afterEach(() => t.close())

const only = async (query = '') => {
  const { data } = await logs(t, query)
  expect(data).toHaveLength(1)
  return data[0] as (typeof data)[number]
}

describe('a row says', () => {
  it('who asked whom for what, and what it came to', async () => {
    t = await loggingGateway({ upstream: [text('hello')] })
    const key = await makeKey(t, { label: 'team' })
    const response = await t.post('/v1/chat/completions', ask(), {
      ...bearer(key.key),
      'x-gateway-session-id': 's-1',
      'x-gateway-user-id': 'u-1',
      'x-gateway-cost-center': 'research',
    })
    const id = response.headers.get('x-gateway-request-id') as string
    const row = await only()
    expect(row).toMatchObject({
      request_id: id,
      source: 'api',
      endpoint: '/v1/chat/completions',
      provider: 'chat',
      model: 'm',
      virtual_model: null,
      requested_model: 'chat/m',
      api_key_label: 'team',
      status: 200,
      stream: false,
      attempts: 1,
      cached: false,
      error_code: null,
      free_pool: false,
    })
    expect(row.tokens.total).toBe(row.tokens.prompt + row.tokens.completion)
    expect(row.tokens.prompt).toBeGreaterThan(0)
    const whole = await detail(t, id)
    expect(whole).toMatchObject({
      key_id: key.id,
      session_id: 's-1',
      user_id: 'u-1',
      cost_center: 'research',
      wire_format: 'chat',
      request_body: null,
      response_body: null,
      attempts: [{ n: 1, provider: 'chat', model: 'm', action: 'returned', status: 200, error: null }],
    })
    expect(whole.request_bytes).toBeGreaterThan(20)
  })

  it('of an account that had no room left only that: no status, as if it had been asked', async () => {
    const full = definePlugin({
      name: 'full',
      setup(gateway) {
        gateway.hook('attempt', (_ctx, { target }, next) => {
          if (target.model !== 'a') return next()
          throw GatewayError.rateLimited('No room.', null, 'at_capacity')
        })
      },
    })
    t = await loggingGateway({ upstream: [text('ok')], before: [full()] })
    const body = { name: 'vm', strategy: 'failover', targets: ['chat/a', 'chat/b'] }
    expect((await t.post('/api/virtual-models', body)).status).toBe(201)
    expect((await t.post('/v1/chat/completions', ask('vm'))).status).toBe(200)
    const { attempts } = await detail(t, (await only()).request_id)
    expect(attempts).toMatchObject([
      { model: 'a', status: null, action: 'skipped', skipped: { reason: 'at_capacity' } },
      { model: 'b', status: 200, action: 'returned', skipped: null },
    ])
  })

  it('the labels that plugins gave the request', async () => {
    const labels = definePlugin({
      name: 'labels',
      setup: (gateway) =>
        gateway.hook('access', (ctx) => {
          ctx.properties = { team: 'a\u0000b', city: 'Zürich' }
        }),
    })
    t = await loggingGateway({ before: [labels()], upstream: [text('x')] })
    const id = (await t.post('/v1/chat/completions', ask())).headers.get('x-gateway-request-id') as string
    expect((await detail(t, id)).properties).toEqual({ team: 'a\u0000b', city: 'Zürich' })
  })
})

describe('there is a row', () => {
  it.each([
    ['/v1/chat/completions', ask('chat/m')],
    ['/v1/messages', { ...ask('messages/m'), max_tokens: 9 }],
    ['/v1/responses', { model: 'responses/m', input: 'Hi' }],
    ['/v1beta/models/generate_content%2Fm:generateContent', { contents: [{ role: 'user', parts: [{ text: 'Hi' }] }] }],
  ])('for an answer on %s, streamed or not', async (path, body) => {
    t = await loggingGateway({ upstream: [text('one'), text('two')] })
    const streamed = path.startsWith('/v1beta') ? path.replace('generateContent', 'streamGenerateContent') : path
    await (await t.post(path, body)).text()
    await (await t.post(streamed, path.startsWith('/v1beta') ? body : { ...body, stream: true })).text()
    await t.untilSettled(2)
    const { data } = await logs(t)
    expect(data.map(({ status, stream }) => [status, stream])).toEqual([
      [200, true],
      [200, false],
    ])
  })

  it.each([
    ['400 for what is wrong', 400, {}, { model: 'chat/m' }, {}],
    ['400 for a model nobody knows', 400, {}, ask('nobody/m'), {}],
    ['401 for a key that is none', 401, {}, ask(), bearer('gw_nothing')],
    ['401 where keys are required', 401, { REQUIRE_API_KEY: 'true' }, ask(), {}],
    ['413 for what is too large', 413, { MAX_BODY_BYTES: '10' }, ask(), {}],
  ])('with provider null: %s', async (_name, status, env, body, headers) => {
    t = await loggingGateway({ env: env as Record<string, string> })
    expect((await t.post('/v1/chat/completions', body, headers as Record<string, string>)).status).toBe(status)
    const row = await only()
    expect(row).toMatchObject({ status, provider: null, model: null, attempts: 0, tokens: { total: 0 } })
    expect((await detail(t, row.request_id)).error_message).toBeTruthy()
  })

  it('for a model that the key may not use: 403 with provider null', async () => {
    t = await loggingGateway()
    const { key } = await makeKey(t, { label: 'narrow', allowed_models: ['other/*'] })
    expect((await t.post('/v1/chat/completions', ask(), bearer(key))).status).toBe(403)
    expect(await only()).toMatchObject({ status: 403, provider: null, api_key_label: 'narrow' })
  })

  it.each([429, 500, 503])('for an upstream that answers %i, with its attempt', async (status) => {
    t = await loggingGateway({ upstream: Array.from({ length: 9 }, () => fail(status)) })
    const response = await t.post('/v1/chat/completions', ask())
    const row = await only()
    expect(row).toMatchObject({ status: response.status, provider: 'chat', tokens: { total: 0 } })
    expect(row.status).toBeGreaterThanOrEqual(400)
    const { attempts } = await detail(t, row.request_id)
    expect(attempts.at(-1)).toMatchObject({ status, error: { message: expect.stringContaining(String(status)) } })
  })

  it('with status 502 for a stream that failed after it had begun, and with the tokens so far', async () => {
    t = await loggingGateway({ upstream: [broken({ text: 'one two three four five six' }, 4)] })
    const response = await t.post('/v1/chat/completions', ask('chat/m', { stream: true }))
    expect(response.status).toBe(200)
    await response.text()
    await t.untilSettled()
    const row = await only()
    expect(row).toMatchObject({ status: 502, stream: true, error_code: 'upstream_error' })
    expect(row.tokens.completion).toBeGreaterThan(0)
  })

  it('with status 499 for a stream that the client left', async () => {
    t = await loggingGateway({ upstream: [text('one two three four five six seven eight', { stallAfter: 3 })] })
    const { url } = await t.listen()
    const leave = new AbortController()
    const response = await fetch(`${url}/v1/chat/completions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(ask('chat/m', { stream: true })),
      signal: leave.signal,
    })
    await response.body?.getReader().read()
    leave.abort()
    await t.untilSettled()
    expect(await only()).toMatchObject({ status: 499, error_code: 'client_closed_request' })
  })

  it('with status 499 for a request that the client left before there was an answer', async () => {
    t = await loggingGateway({ upstream: [hang()] })
    const { url } = await t.listen()
    const leave = new AbortController()
    const asked = fetch(`${url}/v1/chat/completions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(ask()),
      signal: leave.signal,
    }).catch(() => null)
    while (t.upstream.requests.length === 0) await new Promise((resolve) => setImmediate(resolve))
    leave.abort()
    await asked
    await t.untilSettled()
    expect(await only()).toMatchObject({ status: 499 })
  })

  it('for an internal call without a parent, under its source', async () => {
    const call: { run?: () => Promise<unknown> } = {}
    const caller = definePlugin({
      name: 'caller',
      setup(gateway) {
        const request = {
          model: 'chat/m',
          stream: false,
          source: 'chat',
          system: [],
          messages: [{ role: 'user', parts: [{ t: 'text', text: 'Hi' }] }],
          tools: [],
          sampling: {},
          headers: {},
          ext: {},
        } as CanonicalRequest
        call.run = () => gateway.invoke(request, { operation: 'chat', source: 'digest' })
      },
    })
    t = await loggingGateway({ before: [caller()], upstream: [text('x')] })
    await call.run?.()
    expect(await only()).toMatchObject({ source: 'digest', endpoint: null, status: 200, provider: 'chat' })
  })

  it('for each of 1,000 requests at once, and the metric counts them', async () => {
    t = await loggingGateway()
    await Promise.all(Array.from({ length: 1000 }, () => t.post('/v1/chat/completions', { model: 'x/y' })))
    await t.untilSettled(1000)
    let seen = 0
    let cursor = ''
    for (let more = true; more; ) {
      const page = await logs(t, `?limit=200${cursor}`)
      seen += page.data.length
      more = page.next_cursor !== null
      cursor = `&cursor=${page.next_cursor}`
    }
    expect(seen).toBe(1000)
    expect(await metric(t, 'gateway_request_log_rows_total')).toBe(1000)
    expect(await metric(t, 'gateway_request_log_queue_depth')).toBe(0)
  })
})

describe('GATEWAY_LOG_ENABLED=false', () => {
  it('leaves no row, and everything else goes on', async () => {
    t = await loggingGateway({ env: { LOG_ENABLED: 'false' }, upstream: [text('x')] })
    expect((await t.post('/v1/chat/completions', ask())).status).toBe(200)
    await t.untilSettled()
    expect(await logs(t)).toEqual({ data: [], next_cursor: null })
    expect(await metric(t, 'gateway_requests_total')).toBe(1)
  })
})
