// GET /api/events as dashboards receive it.
import { afterEach, describe, expect, it } from 'vitest'
import { fakeClock } from '../../../adapters/testing/fake-clock.ts'
import { fail, text } from '../../../adapters/testing/script.ts'
import type { TestGateway } from '../../../adapters/testing/test-gateway.ts'
import { definePlugin } from '../../../core/plugins/define.ts'
import { VERSION } from '../../../core/version.ts'
import { bearer, makeKey } from '../keys/support.ts'
import { ask, metric } from '../request-log/support.ts'
import { connect, dataOf, listenIn, requestsOf, tellingGateway } from './support.ts'

let t: TestGateway
afterEach(() => t.close())

const chat = async (more: Record<string, unknown> = {}, headers: Record<string, string> = {}): Promise<string> => {
  const response = await t.post('/v1/chat/completions', ask('chat/m', more), headers)
  await response.text()
  return response.headers.get('x-gateway-request-id') as string
}
const subscribers = () => metric(t, 'gateway_live_events_subscribers')

/** A caller with `x-org` belongs to that organization. */
const organizations = definePlugin({
  name: 'test-organizations',
  setup: (gateway) =>
    gateway.hook('authenticate', (ctx) => {
      const orgId = ctx.headers.get('x-org')
      return orgId === null ? undefined : { keyId: null, label: `of ${orgId}`, orgId: Number(orgId), allowedModels: null }
    }),
})

describe('a listener', () => {
  it('hears hello first, and then each request as it ends', async () => {
    t = await tellingGateway({ upstream: [text('hello'), fail(400), text('streamed')] })
    const { port } = await t.listen()
    const client = await connect(port)
    expect([client.status, client.headers['content-type'], client.headers['cache-control']]).toEqual([
      200,
      'text/event-stream; charset=utf-8',
      'no-store, no-transform',
    ])
    await client.until(() => client.events.length === 1)
    expect(client.events[0]).toMatchObject({ event: 'hello', id: expect.stringMatching(/^\d+$/) })
    expect(dataOf(client.events[0])).toEqual({ version: VERSION, buffer: 256, generation: 1 })

    const { key } = await makeKey(t, { label: 'team' })
    const ids = [await chat({}, bearer(key)), await chat(), await chat({ stream: true })]
    await client.until(() => requestsOf(client).length === 3)
    const told = requestsOf(client).map(dataOf)
    expect(told.map(({ request_id }) => request_id)).toEqual(ids)
    expect(told.map(({ status, stream, source }) => [status, stream, source])).toEqual([
      [200, false, 'api'],
      [400, false, 'api'],
      [200, true, 'api'],
    ])
    expect(told[0]).toEqual({
      request_id: ids[0],
      occurred_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      org_id: null,
      api_key_label: 'team',
      provider: 'chat',
      model: 'm',
      requested_model: 'chat/m',
      virtual_model: null,
      status: 200,
      latency_ms: expect.any(Number),
      ttft_ms: expect.any(Number),
      attempts: 1,
      tokens: {
        prompt: expect.any(Number),
        completion: expect.any(Number),
        cache_read: 0,
        cache_write: 0,
        reasoning: 0,
        total: expect.any(Number),
      },
      cost: { cost_usd: null, charge_usd: null },
      cached: false,
      free_pool: false,
      stream: false,
      source: 'api',
    })
    const numbers = requestsOf(client).map(({ id }) => Number(id))
    expect(numbers).toEqual([numbers[0], (numbers[0] as number) + 1, (numbers[0] as number) + 2])
  })

  it('hears nothing of what was said', async () => {
    t = await tellingGateway({ upstream: [text('canary-completion'), fail(400, { message: 'canary-prompt is bad' })] })
    const client = await listenIn(t)
    for (let i = 0; i < 2; i++) await chat({ messages: [{ role: 'user', content: 'canary-prompt' }] })
    await client.until(() => requestsOf(client).length === 2)
    expect(client.raw()).not.toContain('canary')
    await client.leave()
  })

  it('hears a comment each 15 s while nothing happens', async () => {
    const clock = fakeClock()
    t = await tellingGateway({ ports: { clock } })
    const client = await listenIn(t)
    await client.until(() => client.events.length === 1)
    await clock.advance('14s')
    expect(client.comments).toEqual([])
    await clock.advance('1s')
    await client.until(() => client.comments.length === 1)
    await clock.advance('30s')
    await client.until(() => client.comments.length === 3)
    expect(client.comments.every((comment) => comment.trim() === 'ping')).toBe(true)
    await client.leave()
  })

  it('that comes back goes on behind the last event it saw', async () => {
    t = await tellingGateway()
    const { port } = await t.listen()
    const first = await connect(port)
    for (let i = 0; i < 5; i++) await chat({ model: `none/${i}` })
    await first.until(() => requestsOf(first).length === 5)
    first.leave()
    const { id = '' } = requestsOf(first)[2] ?? {}
    const second = await connect(port, '/api/events', { 'last-event-id': id })
    await second.until(() => requestsOf(second).length === 2)
    expect(requestsOf(second)).toEqual(requestsOf(first).slice(3))
    await chat()
    await second.until(() => requestsOf(second).length === 3)
    expect(second.events.map(({ event }) => event)).toEqual(['hello', 'request', 'request', 'request'])
  })

  it.each([0, 3])('that leaves before its first event, %i others after the start, comes back without a loss', async (earlier) => {
    t = await tellingGateway()
    for (let i = 0; i < earlier; i++) await chat({ model: `none/earlier-${i}` })
    await t.untilSettled(earlier)
    const { port } = await t.listen()
    const first = await connect(port)
    await first.until(() => first.events.length === 1)
    first.leave()
    for (let i = 0; i < 3; i++) await chat({ model: `none/${i}` })
    const second = await connect(port, '/api/events', { 'last-event-id': first.events[0]?.id ?? '' })
    await second.until(() => requestsOf(second).length === 3)
    expect(requestsOf(second).map((event) => dataOf(event).requested_model)).toEqual(['none/0', 'none/1', 'none/2'])
    second.leave()
  })

  it.each(['1', '99999999999999', 'x', '-1', ''])('with the last event %j of another process is told no nonsense', async (id) => {
    t = await tellingGateway()
    for (let i = 0; i < 3; i++) await chat({ model: `none/${i}` })
    const client = await listenIn(t, '/api/events', { 'last-event-id': id })
    await chat()
    const expected = /^\d+$/.test(id) ? 4 : 1
    await client.until(() => requestsOf(client).length === expected)
    expect(client.events.some(({ event }) => event === 'lagged')).toBe(false)
    await client.leave()
  })

  it('without one hears only what comes', async () => {
    t = await tellingGateway()
    await chat()
    const client = await listenIn(t)
    const id = await chat()
    await client.until(() => requestsOf(client).length === 1)
    expect(dataOf(requestsOf(client)[0]).request_id).toBe(id)
    await client.leave()
  })

  it('of one organization hears nothing of another, not even how much there was', async () => {
    const operator = (orgId: number) => ({ actor: 'x', orgId, role: 'manage', readOnly: false, auth: 'host' }) as const
    t = await tellingGateway({ before: [organizations()] })
    const as = (orgId: number) => ({
      fetch: (path: string, init?: RequestInit) =>
        t.gateway.fetch(new Request(`http://gateway.test${path}`, init), { operator: operator(orgId) } as never),
    })
    // Peers of a library have no operator, so the control plane is called as by a host.
    const control = (orgId: number) => ({
      fetch: async (path: string, init?: RequestInit) =>
        t.gateway.control.fetch(new Request(`http://gateway.test${path}`, init), {
          address: null,
          local: null,
          secure: true,
          operator: operator(orgId),
        }),
    })
    expect((await as(1).fetch('/api/events')).status).toBe(401)
    const one = await listenIn(control(1))
    const two = await listenIn(control(2))
    for (const org of ['1', '2', '2', '2', '1']) await chat({}, { 'x-org': org })
    await one.until(() => requestsOf(one).length === 2)
    await two.until(() => requestsOf(two).length === 3)
    for (const [client, org] of [
      [one, 1],
      [two, 2],
    ] as const) {
      expect(requestsOf(client).every((event) => dataOf(event).org_id === org)).toBe(true)
      const numbers = requestsOf(client).map(({ id }) => Number(id))
      expect(numbers.map((number) => number - (numbers[0] as number))).toEqual(numbers.map((_, i) => i))
      await client.leave()
    }
    // An organization's missed events contain only its own.
    const again = await listenIn(control(1), '/api/events', { 'last-event-id': String(requestsOf(one)[0]?.id) })
    await again.until(() => requestsOf(again).length === 1)
    expect(dataOf(requestsOf(again)[0]).org_id).toBe(1)
    await again.leave()
  })
})

describe('a slow listener', () => {
  it('misses what is older than the buffer, is told how much, and nothing is kept for it', async () => {
    t = await tellingGateway({ env: { LIVE_EVENT_BUFFER: '4' } })
    const response = await t.fetch('/api/events')
    const reader = (response.body as ReadableStream<Uint8Array>).getReader()
    const read = async () => new TextDecoder().decode((await reader.read()).value)
    expect(await read()).toContain('event: hello')
    const ids: string[] = []
    for (let i = 0; i < 10; i++) ids.push(await chat({ model: `none/${i}` }))
    await t.untilSettled(10)
    // At most one read was running; events that it did not take are buffered or dropped.
    const heard = await read()
    const rest = heard.includes('"missed"') ? heard : heard + (await read())
    const missed = Number(/"missed":(\d+)/.exec(rest)?.[1])
    const told = [...rest.matchAll(/"request_id":"([^"]+)"/g)].map(([, id]) => id)
    expect(missed).toBe(6)
    expect(told).toEqual(ids.slice(6))
    expect(await metric(t, 'gateway_live_events_lagged_total')).toBe(6)
    await reader.cancel()
  })

  it('that takes nothing for two minutes is let go', async () => {
    const clock = fakeClock()
    t = await tellingGateway({ ports: { clock } })
    const { body } = await t.fetch('/api/events')
    expect(await subscribers()).toBe(1)
    await clock.advance('119s')
    expect(await subscribers()).toBe(1)
    await clock.advance('2s')
    expect(await subscribers()).toBe(0)
    expect(await (body as ReadableStream<Uint8Array>).getReader().read()).toMatchObject({ done: true })
  })
})

describe('the stream ends', () => {
  it('when the listener leaves, and leaves no timer', async () => {
    t = await tellingGateway()
    const { port } = await t.listen()
    const clients = await Promise.all([connect(port), connect(port)])
    expect(await subscribers()).toBe(2)
    for (const client of clients) client.leave()
    const until = performance.now() + 15_000
    while ((await subscribers()) !== 0 && performance.now() < until) await new Promise((resolve) => setImmediate(resolve))
    expect(await subscribers()).toBe(0)
  })

  it('at once for HEAD', async () => {
    t = await tellingGateway()
    expect((await t.fetch('/api/events', { method: 'HEAD' })).status).toBe(200)
    expect(await subscribers()).toBe(0)
  })

  it('when the gateway closes, over a socket and in process', async () => {
    t = await tellingGateway()
    const server = await t.listen()
    const client = await connect(server.port)
    const inside = await listenIn(t)
    await client.until(() => client.events.length === 1)
    await server.close()
    await client.until(() => client.over)
    await inside.until(() => inside.over)
  })

  it('when the gateway drains, after which nobody may listen', async () => {
    const clock = fakeClock()
    t = await tellingGateway({ ports: { clock } })
    const client = await listenIn(t)
    await client.until(() => client.events.length === 1)
    await t.gateway.drain(0)
    await clock.advance('1s')
    await client.until(() => client.over)
    expect((await t.fetch('/api/events')).status).toBe(503)
  })
})
