// What a collector gets: traces and metrics over OTLP, from a listening gateway, without a word of the conversation.
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, describe, expect, it } from 'vitest'
import { fail, reply } from '../../../adapters/testing/script.ts'
import { createTestGateway, type TestGateway, type TestGatewayOptions } from '../../../adapters/testing/test-gateway.ts'

interface Value {
  stringValue?: string
  intValue?: number | string
  doubleValue?: number
  boolValue?: boolean
}
interface SpanData {
  traceId: string
  spanId: string
  parentSpanId?: string
  name: string
  kind: number
  startTimeUnixNano: string
  endTimeUnixNano: string
  attributes: { key: string; value: Value }[]
  events: { name: string; attributes: { key: string; value: Value }[] }[]
  status: { code?: number }
}

async function collector() {
  const bodies: Record<string, { headers: Record<string, unknown>; text: string }[]> = {}
  const server = createServer((req, res) => {
    const chunks: Buffer[] = []
    req.on('data', (chunk) => chunks.push(chunk))
    req.on('end', () => {
      const path = req.url ?? ''
      bodies[path] = [...(bodies[path] ?? []), { headers: req.headers, text: Buffer.concat(chunks).toString() }]
      res.writeHead(200, { 'content-type': 'application/json' })
      res.end('{}')
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const of = <T>(path: string, list: (body: never) => T[]) =>
    (bodies[path] ?? []).flatMap(({ text }) => list(JSON.parse(text) as never))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    bodies,
    spans: () =>
      of('/v1/traces', (body: { resourceSpans: { scopeSpans: { spans: SpanData[] }[] }[] }) =>
        body.resourceSpans.flatMap(({ scopeSpans }) => scopeSpans.flatMap(({ spans }) => spans)),
      ),
    metrics: () =>
      of('/v1/metrics', (body: { resourceMetrics: { scopeMetrics: { metrics: { name: string }[] }[] }[] }) =>
        body.resourceMetrics.flatMap(({ scopeMetrics }) => scopeMetrics.flatMap(({ metrics }) => metrics)),
      ),
    close: () => new Promise((resolve) => server.close(resolve)),
  }
}

const attributes = ({ attributes }: { attributes: SpanData['attributes'] }) =>
  Object.fromEntries(
    attributes.map(({ key, value }) => [key, value.stringValue ?? value.intValue ?? value.doubleValue ?? value.boolValue]),
  )

let open: { close(): Promise<unknown> }[] = []
afterEach(async () => {
  for (const one of open.reverse()) await one.close()
  open = []
})

async function site(options: TestGatewayOptions = {}, env: Record<string, string> = {}) {
  const collected = await collector()
  open.push(collected)
  const t = await createTestGateway({
    ...options,
    env: { OTEL_EXPORTER_OTLP_ENDPOINT: collected.url, OTEL_EXPORTER_OTLP_HEADERS: 'x-team=a%20b', ...env },
  })
  let closed = false
  const close = async () => {
    if (!closed) await t.close()
    closed = true
  }
  open.push({ close })
  return { t, collected, close }
}
const chat = (t: TestGateway, headers: Record<string, string> = {}, more: object = {}) =>
  t.post(
    '/v1/chat/completions',
    { model: 'chat/m', messages: [{ role: 'user', content: 'top secret prompt' }], ...more },
    headers,
  )

const SECRET = 'top secret'

describe('a trace', () => {
  it('has the request, its upstream calls and what plugins did, under the caller’s own', async () => {
    const { t, collected, close } = await site({
      upstream: [fail(500), reply({ text: `${SECRET} answer`, usage: { input: 20, output: 5 } })],
    })
    await t.fetch('/api/virtual-models', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ name: 'vm', strategy: 'failover', targets: ['chat/first', 'messages/second'] }),
    })
    const traceId = '4bf92f3577b34da6a3ce929d0e0e4736'
    await (await chat(t, { traceparent: `00-${traceId}-00f067aa0ba902b7-01` }, { model: 'vm' })).text()
    await t.untilSettled()
    await close()
    const spans = collected.spans()
    expect(new Set(spans.map((span) => span.traceId))).toEqual(new Set([traceId]))
    const request = spans.find(({ kind }) => kind === 2) as SpanData
    expect(request).toMatchObject({ name: 'chat vm', parentSpanId: '00f067aa0ba902b7' })
    expect(attributes(request)).toMatchObject({
      'gen_ai.operation.name': 'chat',
      'gen_ai.request.model': 'vm',
      'hookgate.virtual_model': 'vm',
      'gen_ai.usage.input_tokens': 20,
      'gen_ai.usage.output_tokens': 5,
      'http.response.status_code': 200,
      'hookgate.attempts': 2,
      'hookgate.request.id': t.settled[0]?.ctx.id,
    })
    expect(request.events.map(({ name }) => name)).toContain('gen_ai.first_token')
    const calls = spans.filter(({ kind }) => kind === 3)
    expect(calls.map((call) => [call.name, call.parentSpanId, call.status.code ?? 0])).toEqual([
      ['chat first', request.spanId, 2],
      ['chat second', request.spanId, 0],
    ])
    expect(calls.map(attributes)).toMatchObject([
      { 'gen_ai.provider.name': 'chat', 'http.response.status_code': 500, 'hookgate.attempt.action': 'next_target' },
      { 'gen_ai.provider.name': 'messages', 'gen_ai.usage.output_tokens': 5, 'hookgate.attempt.action': 'returned' },
    ])
    const plugins = spans.filter(({ kind }) => kind === 1)
    expect(plugins.map(({ name }) => name)).toEqual(
      expect.arrayContaining([
        'keys authenticate',
        'virtual-models resolve',
        'ledger reserve',
        'resilience attempt',
        'ledger settle',
      ]),
    )
    for (const span of spans) {
      expect(BigInt(span.endTimeUnixNano)).toBeGreaterThanOrEqual(BigInt(span.startTimeUnixNano))
      expect(plugins.filter(({ name }) => name.startsWith('telemetry'))).toEqual([])
    }
  })

  it('tells of failures, and never a word of a conversation or a key', async () => {
    const { t, collected, close } = await site({ upstream: [fail(400, { message: `${SECRET} vendor text` })] })
    await (await chat(t, { authorization: 'Bearer sk-top-secret' })).text()
    await (await chat(t, {}, { stream: true })).text()
    await (await chat(t, {}, { temperature: 9 })).text()
    await t.untilSettled(3)
    await close()
    const requests = collected.spans().filter(({ kind }) => kind === 2)
    expect(requests.map((span) => attributes(span)['http.response.status_code'])).toEqual([400, 400, 400])
    const sent = Object.values(collected.bodies).flat()
    expect(sent.length).toBeGreaterThan(1)
    for (const { text, headers } of sent) {
      expect(text).not.toMatch(/top.secret|sk-upstream/)
      expect(headers['x-team']).toBe('a b')
    }
  })

  it('is not made when the caller’s was not sampled, or the share says no', async () => {
    const { t, collected, close } = await site({}, { OTEL_TRACES_SAMPLER_ARG: '0' })
    await (await chat(t)).text()
    await (await chat(t, { traceparent: '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01' })).text()
    await (await chat(t, { traceparent: '00-4bf92f3577b34da6a3ce929d0e0e4737-00f067aa0ba902b7-00' })).text()
    await t.untilSettled(3)
    await close()
    expect(collected.spans().filter(({ kind }) => kind === 2)).toHaveLength(1)
  })
})

describe('metrics', () => {
  it('are those of the GenAI conventions', async () => {
    const { t, collected, close } = await site({ upstream: [reply({ text: 'x', usage: { input: 20, output: 5 } }), fail(400)] })
    await (await chat(t)).text()
    await (await chat(t)).text()
    await t.untilSettled(2)
    await close()
    expect(collected.metrics().map(({ name }) => name)).toEqual(
      expect.arrayContaining([
        'gen_ai.client.token.usage',
        'gen_ai.client.operation.duration',
        'gen_ai.server.request.duration',
        'gen_ai.server.time_to_first_token',
      ]),
    )
  })
})

describe('without a collector', () => {
  it('nothing is traced and no hook is wrapped', async () => {
    const t = await createTestGateway()
    open.push(t)
    expect(t.gateway.hooks.flatMap(({ handlers }) => handlers).filter(({ plugin }) => plugin === 'telemetry')).toEqual([])
  })

  it('one that does not answer costs requests nothing', async () => {
    const t = await createTestGateway({ env: { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:9' } })
    open.push(t)
    expect((await chat(t)).status).toBe(200)
  })

  it('an address that is none stops the boot and names the variable', async () => {
    await expect(createTestGateway({ env: { OTEL_EXPORTER_OTLP_ENDPOINT: 'collector' } })).rejects.toThrow(
      /GATEWAY_OTEL_EXPORTER_OTLP_ENDPOINT/,
    )
  })
})
