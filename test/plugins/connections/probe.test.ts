// POST /api/providers/:id/test: a diagnosis with the fault and the fix, over the selected connection.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Step } from '../../../adapters/testing/script.ts'
import { fail, raw, reset, text } from '../../../adapters/testing/script.ts'
import { createTestGateway, type TestGateway } from '../../../adapters/testing/test-gateway.ts'
import { definePlugin } from '../../../core/plugins/define.ts'
import type { Dialect } from '../../../core/types/request/canonical.ts'
import { errorOf } from '../keys/support.ts'
import { add, call, list, testOf } from './support.ts'

const KEY = 'sk-probe-canary-4711'

describe('a test request', () => {
  let t: TestGateway
  beforeAll(async () => {
    t = await createTestGateway({ config: { connections: { echo: { provider: 'echo' } } } })
  })
  afterAll(() => t.close())
  const custom = (dialect: Dialect, more: object = {}) =>
    add(t, { provider: 'probed', base_url: t.upstream.baseUrl(dialect), wire_format: dialect, api_key: KEY, ...more })

  it.each(['chat', 'messages', 'responses', 'generate_content'] as const)('works in %s, and is small', async (dialect) => {
    t.upstream.script(text('OK'))
    const { id } = await custom(dialect)
    const verdict = await testOf(t, id, { model: 'm' })
    expect(verdict).toEqual({ ok: true, status: 200, latency_ms: expect.any(Number), model: 'm', error: null })
    const sent = t.upstream.requests.at(-1)
    expect(sent?.dialect).toBe(dialect)
    expect(sent?.text.length).toBeLessThan(300)
    expect(JSON.stringify(sent?.headers)).toContain(KEY)
  })

  it('asks the connection in question and no other of its provider, and settles as source `test`', async () => {
    t.upstream.script(fail(500), text('OK'))
    const [broken, sound] = [
      await custom('chat', { provider: 'pair', priority: 1 }),
      await custom('chat', { provider: 'pair', priority: 2 }),
    ]
    const calls = t.upstream.requests.length
    expect(await testOf(t, broken.id, { model: 'm' })).toMatchObject({ ok: false, status: 500, error: { kind: 'upstream' } })
    expect(t.upstream.requests.length).toBe(calls + 1)
    expect(await testOf(t, sound.id, { model: 'm' })).toMatchObject({ ok: true })
    const { ctx } = t.settled.at(-1) as (typeof t.settled)[number]
    expect([ctx.source, ctx.attempts.map(({ candidate }) => candidate.connection.id)]).toEqual(['test', [String(sound.id)]])
  })

  it('takes the model of the caller, else the default one, else the first that is named', async () => {
    t.upstream.script(text('OK'))
    const both = await custom('chat', { allowed_models: ['a*', 'named'], default_model: 'a-default' })
    expect((await testOf(t, both.id)).model).toBe('a-default')
    expect((await testOf(t, both.id, { model: 'a1' })).model).toBe('a1')
    expect(await errorOf(await call(t, 'POST', `/api/providers/${both.id}/test`, { model: 'b' }))).toMatchObject({
      status: 400,
      param: 'model',
    })
    expect((await testOf(t, (await custom('chat', { allowed_models: ['a*', 'named'] })).id)).model).toBe('named')
    const none = await call(t, 'POST', `/api/providers/${(await custom('chat')).id}/test`, {})
    expect(await errorOf(none)).toMatchObject({ status: 400, param: 'model' })
  })

  it('works for echo, and for what the file declares', async () => {
    const echo = (await list(t)).find(({ provider }) => provider === 'echo')
    expect(await testOf(t, echo?.id as number, { model: 'echo-1' })).toMatchObject({ ok: true, status: 200 })
  })

  const failures: [string, Step, { status: number | null; kind: string }][] = [
    ['a refused key', fail(401, { message: `Incorrect API key provided: ${KEY}` }), { status: 401, kind: 'credentials' }],
    ['a refused key with 400', fail(400, { message: 'API key not valid. Pass one.' }), { status: 400, kind: 'credentials' }],
    ['a key without rights', fail(403), { status: 403, kind: 'permission' }],
    ['no credit', fail(429, { code: 'insufficient_quota' }), { status: 429, kind: 'quota' }],
    ['a bill', fail(402), { status: 402, kind: 'quota' }],
    ['a rate limit', fail(429, { message: 'Slow down' }), { status: 429, kind: 'rate_limit' }],
    ['an unknown model', fail(404, { message: 'no such model' }), { status: 404, kind: 'model' }],
    ['a refused request', fail(422), { status: 422, kind: 'request' }],
    ['a failing provider', fail(503), { status: 503, kind: 'upstream' }],
    [
      'something else that answers',
      raw(200, '<html>hello</html>', { contentType: 'text/html' }),
      { status: null, kind: 'protocol' },
    ],
    ['a cut connection', reset(), { status: null, kind: 'reset' }],
  ]
  it.each(failures)('%s is told apart', async (_name, step, { status, kind }) => {
    t.upstream.script(step, step)
    const verdict = await testOf(t, (await custom('chat')).id, { model: 'm' })
    expect(verdict).toMatchObject({ ok: false, status, model: 'm', error: { kind } })
    expect(verdict.error?.hint).not.toBe('')
    expect(JSON.stringify(verdict)).not.toContain(KEY)
  })

  it('says so when nothing listens, when the name does not resolve, and when the proxy is not there', async () => {
    const of = async (more: object) => (await testOf(t, (await custom('chat', more)).id, { model: 'm' })).error?.kind
    expect(await of({ base_url: 'http://127.0.0.1:9/v1' })).toBe('connect')
    // Longer than a label may be: the resolver fails without a query.
    expect(await of({ base_url: `http://${'nowhere'.repeat(10)}.invalid/v1` })).toBe('dns')
    expect(['proxy', 'connect']).toContain(await of({ proxy_url: 'http://127.0.0.1:9' }))
  })

  it('does not call a disabled connection', async () => {
    const calls = t.upstream.requests.length
    const { id } = await custom('chat', { enabled: false })
    expect(await testOf(t, id, { model: 'm' })).toMatchObject({ ok: false, status: null, error: { kind: 'disabled' } })
    expect(t.upstream.requests.length).toBe(calls)
  })
})

describe('what other plugins add', () => {
  it('shows in `state`, and gives a test its model', async () => {
    const cooling = definePlugin({
      name: 'cooling',
      requires: ['accounts'],
      setup(gateway) {
        return gateway.use('accounts').extend({
          state: ({ label }) => ({ status: 'cooldown', cooldown_until: null, seen: label }),
          testModel: ({ provider }) => (provider === 'acme' ? 'suggested' : null),
        })
      },
    })
    const t = await createTestGateway({ config: { connections: {} }, plugins: [cooling()], upstream: [text('OK')] })
    const made = await add(t, { provider: 'acme', base_url: t.upstream.baseUrl('chat'), wire_format: 'chat' })
    expect(made.state).toMatchObject({ status: 'cooldown', cooldown_until: null, seen: 'acme' })
    expect(await testOf(t, made.id)).toMatchObject({ ok: true, model: 'suggested' })
    const disabled = await (await call(t, 'PUT', `/api/providers/${made.id}`, { enabled: false })).json()
    expect((disabled as typeof made).state.status).toBe('disabled')
    await t.close()
  })
})
