// What is told, when, and with which members.
import { afterEach, describe, expect, it } from 'vitest'
import { broken, fail, raw, reset, text } from '../../../adapters/testing/script.ts'
import { sql } from '../../../core/db/sql.ts'
import { GatewayError } from '../../../core/errors/gateway-error.ts'
import { definePlugin } from '../../../core/plugins/define.ts'
import type { EventMap } from '../../../core/types/plugin/plugin.ts'
import { EVENT_TYPES, kindOf } from '../../../plugins/webhooks/events/catalog.ts'
import { ask, bearer, makeKey } from '../keys/support.ts'
import { type Envelope, envelopeIn, turns, until, type World, type WorldOptions, world } from './support.ts'

let t: World
afterEach(() => t?.close())

const told = (type?: string): Envelope[] =>
  t.receiver.arrived.map(envelopeIn).filter((envelope) => type === undefined || envelope.type === type)

const chat = async (model = 'chat/m', more: object = {}, headers: Record<string, string> = {}): Promise<number> => {
  const response = await t.post('/v1/chat/completions', { ...ask(model), ...more }, headers)
  await response.arrayBuffer()
  return response.status
}

/** Settled, committed, and looked at. */
async function quiet(): Promise<void> {
  await t.untilSettled(t.settled.length)
  await turns()
  await t.clock.advance(1100)
  await until(async () => (await t.deliveries('&status=pending')).length === 0)
}

const only = (type: string) => ({ event_types: [type] })
const steady = { settings: { breaker: { failure_threshold: 1000 } } }
const worldOf = (options: WorldOptions = {}) => world({ ...options, config: { ...steady, ...options.config } })

/** Refuses with what a plugin may refuse with. */
const refusing = (error: () => Error) =>
  definePlugin({
    name: 'refusing',
    setup: (gateway) =>
      gateway.hook('admit', () => {
        throw error()
      }),
  })()

describe('request.failed', () => {
  it('has exactly the documented members', async () => {
    t = await worldOf({ upstream: [fail(503)] })
    await t.endpoint(only('request.failed'))
    const { id, key } = await makeKey(t, { label: 'ci' })
    expect(await chat('chat/some-model', {}, { ...bearer(key), 'x-session-id': 'session-1' })).toBe(503)
    await quiet()
    const { requestId, account } = {
      requestId: t.settled[0]?.ctx.id,
      account: t.settled[0]?.ctx.candidate?.connection.id,
    }
    expect(told()).toMatchObject([{ type: 'request.failed', org_id: null }])
    expect(told()[0]?.data).toEqual({
      request_id: requestId,
      session_id: 'session-1',
      occurred_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      api_key_label: 'ci',
      api_key_id: id,
      provider: 'chat',
      account_id: account,
      model: 'some-model',
      virtual_model: '',
      status: 503,
      error: { message: 'The upstream answered 503.', code: 'upstream_error', retryable: true },
      latency_ms: expect.any(Number),
      tokens: { prompt: 0, completion: 0, cache_read: 0, cache_write: 0, reasoning: 0, total: 0 },
      cost: { cost_usd: 0, charge_usd: 0 },
      free_pool: false,
      dedup_key: 'chat:503',
    })
    expect(typeof told()[0]?.data.account_id).toBe('string')
    expect(Number.isInteger(told()[0]?.data.latency_ms)).toBe(true)
  })

  it('has no session without a session header, and no key for an anonymous caller', async () => {
    t = await worldOf({ upstream: [fail(500)] })
    await t.endpoint()
    await chat()
    await quiet()
    expect(told('request.failed')[0]?.data).toMatchObject({ api_key_id: null, api_key_label: '' })
    expect(told('request.failed')[0]?.data).not.toHaveProperty('session_id')
  })

  it('is told once in 60 s for each provider and status', async () => {
    t = await worldOf({ upstream: [fail(500)] })
    await t.endpoint(only('request.failed'))
    for (let i = 0; i < 20; i++) expect(await chat(`chat/m${i}`)).toBe(500)
    for (let i = 0; i < 3; i++) expect(await chat(`messages/m${i}`)).toBe(500)
    t.upstream.script(fail(502))
    for (let i = 0; i < 3; i++) expect(await chat(`chat/n${i}`)).toBe(502)
    await quiet()
    expect(told().map(({ data }) => data.dedup_key)).toEqual(['chat:500', 'messages:500', 'chat:502'])
    t.upstream.script(fail(500))
    t.clock.jump(61_000)
    await chat('chat/again')
    await quiet()
    expect(told().map(({ data }) => data.dedup_key)).toEqual(['chat:500', 'messages:500', 'chat:502', 'chat:500'])
    expect(new Set(told().map(({ id }) => id)).size).toBe(4)
  })

  it('a connection that breaks and a stream that breaks off are failures of the upstream too', async () => {
    t = await worldOf({ upstream: [reset()] })
    await t.endpoint(only('request.failed'))
    expect(await chat()).toBe(502)
    await quiet()
    expect(told()[0]?.data).toMatchObject({ status: 502, error: { code: 'upstream_error', retryable: true } })
    t.upstream.script(broken({ text: 'a long answer of several words' }, 5))
    expect(await chat('messages/m', { stream: true })).toBe(200)
    await quiet()
    expect(told()[1]?.data).toMatchObject({
      provider: 'messages',
      status: 502,
      dedup_key: 'messages:502',
      error: { message: 'The upstream broke its stream off.', code: 'upstream_error', retryable: true },
    })
  })

  it('neither success, nor the caller’s mistakes, nor the gateway’s own refusals are told', async () => {
    t = await worldOf({ upstream: [text('ok')] })
    await t.endpoint()
    expect(await chat()).toBe(200)
    expect(await chat('nobody/m')).toBe(400)
    t.upstream.script(fail(400))
    expect(await chat()).toBe(400)
    await quiet()
    expect(told()).toEqual([])
    await t.close()
    t = await worldOf({ plugins: [refusing(() => new Error('a bug'))] })
    await t.endpoint()
    expect(await chat()).toBe(503)
    await quiet()
    expect(told()).toEqual([])
  })

  it('nothing of prompt, answer or the vendor’s words is in any payload', async () => {
    const leak = 'CANARY-content-7731'
    t = await worldOf({
      upstream: [raw(500, JSON.stringify({ error: { message: `cannot do ${leak}`, type: 'x', code: leak } }))],
    })
    await t.endpoint()
    await t.endpoint({ url: 'http://hooks.example.com/s', format: 'slack' })
    await t.endpoint({ url: 'http://hooks.example.com/x', event_types: ['spend.tracked'] })
    expect(await chat('chat/m', { messages: [{ role: 'user', content: leak }] })).toBe(500)
    t.upstream.script(text(leak))
    expect(await chat('chat/m', { messages: [{ role: 'user', content: leak }] })).toBe(200)
    await t.clock.advance(5000)
    await quiet()
    expect(t.receiver.arrived.length).toBeGreaterThanOrEqual(3)
    expect(JSON.stringify(t.receiver.arrived.map(({ body, headers }) => [body, headers]))).not.toContain(leak)
  })
})

describe('request.rate_limited', () => {
  it('is told when the upstream answers 429, and not for the gateway’s own 429', async () => {
    t = await worldOf({ upstream: [fail(429)] })
    await t.endpoint(only('request.rate_limited'))
    const { key } = await makeKey(t, { rate_limit_rpm: 1 })
    expect(await chat('chat/m', {}, bearer(key))).toBe(429)
    expect(await chat('messages/m', {}, bearer(key))).toBe(429)
    await quiet()
    expect(told().map(({ data }) => data)).toMatchObject([
      {
        provider: 'chat',
        status: 429,
        dedup_key: 'chat:429',
        error: { message: 'The upstream answered 429.', code: 'rate_limited', retryable: true },
      },
    ])
  })
})

describe('request.budget_rejected', () => {
  it('is told for 402, of the provider that was to be asked', async () => {
    t = await worldOf({ plugins: [refusing(() => GatewayError.budgetExhausted('The budget of CANARY is used up.'))] })
    await t.endpoint(only('request.budget_rejected'))
    expect(await chat('chat/some-model')).toBe(402)
    await quiet()
    expect(told()[0]?.data).toMatchObject({
      provider: 'chat',
      account_id: '',
      model: 'some-model',
      status: 402,
      dedup_key: 'chat:402',
      error: { message: 'The budget is used up.', code: 'budget_exhausted', retryable: false },
      cost: { cost_usd: 0, charge_usd: 0 },
    })
  })
})

describe('events of the bus', () => {
  const at = '2026-01-01T00:00:00.000Z'
  const account = { provider: 'acme', account_id: '7', occurred_at: at }
  const audited = { action: 'key.create', actor: 'local', target: '3', org_id: null, at, details: { label: 'ci' } }
  const outage = {
    provider: 'acme',
    severity: 'minor',
    error_count: 5,
    window_seconds: 60,
    first_error_at: at,
    last_error_at: at,
  }
  const digest = {
    period_start: at,
    period_end: at,
    total_usd_saved: 1,
    total_tokens_saved: 2,
    top_opportunities: [],
    headline: 'h',
  }
  const SENT: Record<string, Record<string, unknown>> = {
    'provider.circuit_opened': { ...account, consecutive_failures: 5, cooldown_until: at },
    'provider.circuit_closed': { ...account, open_for_ms: 12 },
    'account.cooldown_started': { ...account, retry_after_seconds: 3, cooldown_until: at, source: 'retry_after' },
    'account.quota_exhausted': account,
    'provider.outage': { ...outage, dedup_key: 'acme:minor' },
    'report.weekly_digest': digest,
    'key.created': audited,
    'key.rotated': { ...audited, action: 'key.rotate' },
    'key.deleted': { ...audited, action: 'key.delete' },
    'user.created': { ...audited, action: 'user.create' },
    'user.deleted': { ...audited, action: 'user.delete' },
  }
  const emit = (type: string, data: Record<string, unknown>, orgId: number | null = null) =>
    t.plugin.events.emit(type as keyof EventMap, data as never, { orgId })

  it('arrive with the documented members and no others; those that are off by default only where they are asked for', async () => {
    t = await worldOf()
    await t.endpoint({ url: 'http://hooks.example.com/default' })
    await t.endpoint({ url: 'http://hooks.example.com/all', event_types: [...EVENT_TYPES] })
    for (const [type, data] of Object.entries(SENT)) emit(type, { ...data, secret_detail: 'of the emitter alone' })
    await quiet()
    const at_ = (path: string) =>
      Object.fromEntries(
        t.receiver.arrived.filter((one) => one.path === path).map((one) => [envelopeIn(one).type, envelopeIn(one).data]),
      )
    expect(at_('/all')).toEqual(SENT)
    expect(at_('/default')).toEqual(Object.fromEntries(Object.entries(SENT).filter(([type]) => kindOf(type)?.defaultOn)))
  })

  it('go to the endpoints of their organization alone', async () => {
    t = await worldOf()
    await t.endpoint()
    emit('account.quota_exhausted', account, 7)
    emit('account.quota_exhausted', { ...account, account_id: '8' }, null)
    await quiet()
    expect(told().map(({ org_id, data }) => [org_id, data.account_id])).toEqual([[null, '8']])
  })

  it('an outage is delivered once in ten minutes for each provider, as its emitter tells it', async () => {
    t = await world({ upstream: [fail(500)], config: { settings: { breaker: { failure_threshold: 1000 } } } })
    await t.endpoint(only('provider.outage'))
    const fails = async (count: number, dialect: string) => {
      for (let i = 0; i < count; i++) await chat(`${dialect}/m`)
      await quiet()
    }
    await fails(12, 'chat')
    await fails(6, 'messages')
    expect(told().map(({ data }) => data.dedup_key)).toEqual(['chat:minor', 'messages:minor'])
    await t.clock.advance('595s')
    await fails(12, 'chat')
    expect(told()).toHaveLength(2)
    await t.clock.advance('10s')
    await fails(1, 'chat')
    expect(told().map(({ data }) => data.dedup_key)).toEqual(['chat:minor', 'messages:minor', 'chat:major'])
  })

  it('what accounts and keys really do arrives: a circuit, a cooldown, an outage, a key', async () => {
    t = await world({ upstream: [fail(500)] })
    await t.endpoint({ url: 'http://hooks.example.com/all', event_types: [...EVENT_TYPES] })
    const { id } = await makeKey(t, { label: 'ci' })
    for (let i = 0; i < 5; i++) await chat(`chat/m${i}`)
    await quiet()
    const types = told().map(({ type }) => type)
    for (const type of [
      'key.created',
      'request.failed',
      'provider.circuit_opened',
      'account.cooldown_started',
      'provider.outage',
    ])
      expect(types, type).toContain(type)
    expect(told('key.created')[0]?.data).toMatchObject({ action: 'key.create', target: String(id), details: { label: 'ci' } })
    const members = (type: string) => Object.keys(told(type)[0]?.data ?? {}).sort()
    for (const type of ['provider.circuit_opened', 'account.cooldown_started', 'provider.outage', 'key.created'])
      expect(members(type), type).toEqual([...(kindOf(type)?.members ?? [])].sort())
  })
})

it('nothing is written when nobody subscribes', async () => {
  t = await worldOf({ upstream: [fail(500)] })
  expect(await chat()).toBe(500)
  await quiet()
  for (const table of ['webhooks_events', 'webhooks_deliveries', 'webhooks_dedup'])
    expect(await t.plugin.db.all(sql`SELECT * FROM ${sql.id(table)}`)).toEqual([])
})
