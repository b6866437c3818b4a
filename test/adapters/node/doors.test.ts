// One contract for every entry: the same request has the same answer, streams stream, an abort reaches the upstream, and a slow reader
// slows the upstream down.

import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type ScriptedUpstream, scriptedUpstream } from '../../../adapters/testing/scripted-upstream.ts'
import { createTestGateway, type TestGateway } from '../../../adapters/testing/test-gateway.ts'
import type { Outcome } from '../../../core/types/request/context.ts'
import { expectWithin } from '../../support/in-time.ts'
import { OPERATION_BODIES, OPERATION_FORMS } from '../../support/operation-bodies.ts'
import { DOORS, type Door } from './doors.ts'
import { FLOOD_BYTES, flooding } from './flood.ts'
import { ask, DIALECTS, until } from './support.ts'

const KEY = 'a-client-key-of-the-doors'
let t: TestGateway
let flood: Awaited<ReturnType<typeof flooding>>
let vendor: ScriptedUpstream

beforeAll(async () => {
  flood = await flooding()
  vendor = await scriptedUpstream()
  t = await createTestGateway({
    config: {
      connections: {
        echo: { provider: 'echo' },
        vendor: { provider: 'custom', wireFormat: 'chat', baseUrl: vendor.baseUrl('chat') },
        flood: { provider: 'custom', wireFormat: 'chat', baseUrl: flood.baseUrl },
      },
      keys: { door: { secret: KEY } },
    },
    env: { MAX_BODY_BYTES: '50000' },
  })
})
afterAll(async () => {
  await t.close()
  flood.close()
  await vendor.close()
})

interface Case {
  what: string
  path: string
  method?: string
  body?: unknown
  headers?: Record<string, string>
  status: number
}

const json = (call: { path: string; body: unknown }, status = 200) => ({ path: call.path, body: call.body, status })
const chat = ask('chat', 'echo/echo-1')
/** Objects by their id. */
const STORED = /^\/v1\/(batches|responses|conversations)\/.*\*$/
const CASES: Case[] = [
  ...DIALECTS.flatMap((dialect) => [
    { what: `${dialect}`, ...json(ask(dialect, 'echo/echo-1')) },
    { what: `${dialect}, streamed`, ...json(ask(dialect, 'echo/echo-1', { stream: true })) },
    { what: `${dialect}, unknown model`, ...json(ask(dialect, 'nobody/x'), 400) },
    { what: `${dialect}, malformed`, path: ask(dialect, 'echo/x').path, body: '{"a":', status: 400 },
    {
      what: `${dialect}, a key twice`,
      path: ask(dialect, 'echo/x').path,
      body: '{"model":"echo/x","model":"echo/y"}',
      status: 400,
    },
    { what: `${dialect}, compressed`, ...json(ask(dialect, 'echo/x'), 415), headers: { 'content-encoding': 'gzip' } },
    { what: `${dialect}, GET`, path: ask(dialect, 'echo/x').path, method: 'GET', status: 405 },
  ]),
  {
    what: 'a JSON array stream',
    path: '/v1beta/models/echo/echo-1:streamGenerateContent',
    body: ask('generate_content', 'echo/x').body,
    status: 200,
  },
  {
    what: 'a percent-encoded model',
    path: '/v1beta/models/echo%2Fecho-1:generateContent',
    body: ask('generate_content', 'echo/x').body,
    status: 200,
  },
  {
    what: 'a model without models/',
    path: '/v1beta/echo/echo-1:generateContent',
    body: ask('generate_content', 'echo/x').body,
    status: 200,
  },
  {
    what: 'a generate-content body on the chat route',
    path: chat.path,
    body: { ...ask('generate_content', 'echo/x').body, model: 'echo/echo-1' },
    status: 200,
  },
  { what: 'count_tokens', path: '/v1/messages/count_tokens', body: ask('messages', 'echo/echo-1').body, status: 200 },
  ...Object.entries(OPERATION_BODIES).flatMap(([path, body]) => [
    { what: path, path, body: body('vendor/m'), status: 200 },
    { what: `${path}, malformed`, path, body: '{"a":', status: 400 },
  ]),
  ...Object.keys(OPERATION_FORMS).map((path) => ({
    what: path,
    path,
    headers: { 'content-type': 'multipart/form-data; boundary=b' },
    body: `${['model', 'prompt'].map((name) => `--b\r\ncontent-disposition: form-data; name="${name}"\r\n\r\nvendor/m\r\n`).join('')}${['file', 'image'].map((name) => `--b\r\ncontent-disposition: form-data; name="${name}"; filename="a"\r\n\r\nbytes\r\n`).join('')}--b--\r\n`,
    status: 200,
  })),
  ...['/v1/batches', '/v1/audio/voices'].map((path) => ({ what: path, path, method: 'GET', status: 200 })),
  { what: 'input_tokens', path: '/v1/responses/input_tokens', body: { model: 'echo/echo-1', input: 'hi' }, status: 200 },
  { what: 'a conversation', path: '/v1/conversations', body: { metadata: { topic: 'herons' } }, status: 200 },
  { what: 'a response that is not there', path: '/v1/responses/resp_x', method: 'GET', status: 404 },
  { what: 'a run that is not there', path: '/v1/responses/resp_x/cancel', body: {}, status: 404 },
  { what: 'a conversation that is not there', path: '/v1/conversations/conv_x', method: 'GET', status: 404 },
  { what: 'items that are not there', path: '/v1/conversations/conv_gwx/items', method: 'GET', status: 404 },
  { what: 'a batch that is not there', path: '/v1/batches/batch_x', method: 'GET', status: 404 },
  { what: '/v1/web/fetch', path: '/v1/web/fetch', body: { url: 'http://127.0.0.1/' }, status: 400 },
  { what: 'chat validation', path: chat.path, body: { model: 'echo/x', messages: [] }, status: 400 },
  { what: 'no model', path: chat.path, body: { messages: [{ role: 'user', content: 'x' }] }, status: 400 },
  { what: 'text beyond ASCII', ...json(ask('chat', 'echo/echo-1', { text: 'Größe 😀 \u2028' })) },
  { what: 'a body over the limit', path: chat.path, body: `${JSON.stringify(chat.body)}${' '.repeat(60_000)}`, status: 413 },
  { what: 'an unknown route', path: '/v1/nothing', body: {}, status: 404 },
  { what: 'an unknown route of generate-content', path: '/v1beta/models/echo/x:nothing', body: {}, status: 404 },
  { what: 'a query', path: '/v1/chat/completions?api-version=1', body: chat.body, status: 200 },
  ...[
    '/v1/models',
    '/v1/models/image',
    '/v1/models/echo%2Fecho-1',
    '/v1/model_group/info',
    '/v1beta/models',
    '/v1beta/models/echo/echo-1',
  ].map((path) => ({ what: path, path, method: 'GET', headers: { authorization: `Bearer ${KEY}` }, status: 200 })),
  { what: '/v1/models without a key', path: '/v1/models', method: 'GET', status: 401 },
  { what: '/healthz', path: '/healthz', method: 'GET', status: 200 },
  { what: '/health/readiness', path: '/health/readiness', method: 'GET', status: 200 },
  { what: '/health/liveliness', path: '/health/liveliness', method: 'GET', status: 200 },
  { what: '/metrics', path: '/metrics', method: 'GET', status: 200 },
  { what: 'a control route that is not there', path: '/api/nothing', method: 'GET', status: 404 },
  { what: 'a control route by another method', path: '/healthz', method: 'POST', body: {}, status: 405 },
]

it('the cases cover every data route', () => {
  for (const { path } of t.gateway.routes.entries) {
    const stem = path.replace(/\*$/, '')
    expect(
      CASES.some((one) => one.path.startsWith(stem) && (one.status === 200 || path === '/v1/web/fetch' || STORED.test(path))),
      path,
    ).toBe(true)
  }
})

describe.each(Object.entries(DOORS))('%s', (name, open) => {
  let door: Door
  let reference: Door

  beforeAll(async () => {
    ;[door, reference] = [await open(t.gateway), await (DOORS['fetch(Request)'] as typeof open)(t.gateway)]
  })
  // serve() would close the gateway together with the server, so the last one does.
  afterAll(async () => {
    if (name !== 'serve()') await door.close()
  })

  it.each(CASES)('$what: $status, the same as everywhere', async (one) => {
    const answer = await answerOf(door, one)
    expect(answer.status).toBe(one.status)
    expect(answer).toEqual(await answerOf(reference, one))
  })

  it('an empty body is a 400, not a hang', async () => {
    const response = await door.call('/v1/chat/completions', { method: 'POST' })
    expect(response.status).toBe(400)
  })

  it.each(DIALECTS)('a stream in %s arrives while it is made', async (dialect) => {
    const { path, body } = ask(dialect, 'flood/held', { stream: true })
    const response = await door.call(path, { method: 'POST', body: JSON.stringify(body) })
    const reader = (response.body as ReadableStream<Uint8Array>).getReader()
    const decoder = new TextDecoder()
    let text = ''
    while (!text.includes('first')) text += decoder.decode((await reader.read()).value, { stream: true })
    expect(text).not.toContain('more')
    flood.release()
    for (let chunk = await reader.read(); !chunk.done; chunk = await reader.read())
      text += decoder.decode(chunk.value, { stream: true })
    expect(text).toContain('more')
  })

  it('a caller who leaves closes the upstream within 100 ms, and the request settles as 499', async () => {
    await expectWithin(100, async () => {
      const before = t.settled.length
      const abort = new AbortController()
      const { path, body } = ask('chat', 'flood/stall', { stream: true })
      const response = await door.call(path, { method: 'POST', body: JSON.stringify(body), signal: abort.signal })
      const reader = (response.body as ReadableStream<Uint8Array>).getReader()
      await reader.read()
      const at = performance.now()
      abort.abort()
      await reader.cancel().catch(() => {})
      await until(() => flood.closedAt() >= at)
      expect(await outcomeOf('stall', before)).toMatchObject({ status: 499, aborted: true })
      return flood.closedAt() - at
    })
  })

  it('a caller who leaves before the answer closes the upstream too', async () => {
    await expectWithin(100, async () => {
      const before = t.settled.length
      const abort = new AbortController()
      const { path, body } = ask('chat', 'flood/silent')
      const response = door.call(path, { method: 'POST', body: JSON.stringify(body), signal: abort.signal }).catch(() => {})
      await until(() => flood.waiting())
      const at = performance.now()
      abort.abort()
      await until(() => flood.closedAt() >= at)
      await response
      expect((await outcomeOf('silent', before)).status).toBe(499)
      return flood.closedAt() - at
    })
  })

  it('a reader that takes nothing stops the upstream, and loses nothing when it goes on', async () => {
    const { path, body } = ask('chat', 'flood/big', { stream: true })
    const response = await door.call(path, { method: 'POST', body: JSON.stringify(body) })
    let sent = -1
    // Until kernel buffers are full and no more bytes move.
    for (let still = 0; still < 4; still = flood.sent() === sent ? still + 1 : 0) {
      sent = flood.sent()
      await sleep(100)
    }
    expect(sent).toBeLessThan(FLOOD_BYTES * 0.75)
    let received = 0
    for await (const chunk of response.body as unknown as AsyncIterable<Uint8Array>) received += chunk.length
    expect(flood.sent()).toBeGreaterThanOrEqual(FLOOD_BYTES)
    expect(received).toBeGreaterThanOrEqual(FLOOD_BYTES)
  })
})

it('a body that was read already is a 500 that says where to mount', async () => {
  const express = (await import('express')).default
  const { toNodeHandler } = await import('../../../adapters/node/server/node-handler.ts')
  const app = express().use(express.json()).use('/llm', toNodeHandler(t.gateway))
  const server = createServer(app).listen(0, '127.0.0.1')
  await once(server, 'listening')
  for (const transferEncoding of ['content-length', 'chunked']) {
    const text = JSON.stringify(chat.body)
    const response = await fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}/llm/v1/chat/completions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      ...(transferEncoding === 'chunked' ? { body: new Blob([text]).stream(), duplex: 'half' } : { body: text }),
    } as RequestInit)
    expect(response.status).toBe(500)
    expect(((await response.json()) as { error: { message: string } }).error.message).toMatch(
      /mount the gateway before the body parser/,
    )
  }
  const consumed = new Request('http://x/v1/chat/completions', { method: 'POST', body: JSON.stringify(chat.body) })
  await consumed.text()
  expect((await t.gateway.fetch(consumed)).status).toBe(500)
  server.closeAllConnections()
  server.close()
})

/** Returns the outcome of the request after `before` with this model: an earlier one may settle late. */
async function outcomeOf(model: string, before: number): Promise<Outcome> {
  const mine = () => t.settled.slice(before).find(({ ctx }) => ctx.requestedModel === `flood/${model}`)?.outcome
  await until(() => mine() !== undefined)
  return mine() as Outcome
}

/** Returns everything that a client sees, with expected differences removed. */
async function answerOf(door: Door, { path, method = 'POST', body, headers = {} }: Case) {
  const text = typeof body === 'string' ? body : body === undefined ? undefined : JSON.stringify(body)
  const response = await door.call(path, {
    method,
    headers: { ...(text === undefined ? {} : { 'content-type': 'application/json' }), ...headers },
    ...(text === undefined ? {} : { body: text }),
  })
  const answer = await response.text()
  const codec = ['date', 'connection', 'keep-alive', 'transfer-encoding', 'content-length', 'x-powered-by', 'vary']
  return {
    status: response.status,
    headers: Object.fromEntries(
      [...response.headers].filter(([name]) => !codec.includes(name)).map(([name, value]) => [name, plain(value)]),
    ),
    body: path === '/metrics' ? answer.startsWith('# HELP gateway_') : plain(answer),
  }
}

function plain(text: string): string {
  return text
    .replace(/req_[0-9a-f-]{36}/g, 'req_ID')
    .replace(/(chatcmpl-|msg_|resp_|conv_|echo_|call_)[A-Za-z0-9]{24,}/g, '$1ID')
    .replace(/"(created|created_at|completed_at|latency_ms)":\d+/g, '"$1":0')
}
