// What crosses the gateway in headers, each way: an allow-list, never a copy.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { text } from '../../adapters/testing/script.ts'
import { createTestGateway, type TestGateway } from '../../adapters/testing/test-gateway.ts'
import { rawHttp } from '../adapters/node/support.ts'
import { ask, bearer, makeKey } from '../plugins/keys/support.ts'

let t: TestGateway
let url: string
let key: string
beforeAll(async () => {
  t = await createTestGateway()
  url = `http://127.0.0.1:${(await t.listen()).port}`
  key = (await makeKey(t)).key
})
afterAll(() => t.close())
beforeEach(() => t.upstream.script(text('hello')))

const post = (headers: Record<string, string>, body: object = ask('chat/m')) =>
  fetch(`${url}/v1/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...bearer(key), ...headers },
    body: JSON.stringify(body),
  })

describe('towards the upstream', () => {
  it('no credential, cookie, address or gateway header of the caller goes on (H2, K10)', async () => {
    const sent = {
      cookie: 'session=caller-cookie',
      'x-api-key': key,
      'api-key': key,
      'x-goog-api-key': key,
      'proxy-authorization': 'Basic caller-proxy',
      'x-forwarded-for': '203.0.113.9',
      forwarded: 'for=203.0.113.9',
      via: '1.1 caller',
      'x-real-ip': '203.0.113.9',
      te: 'trailers',
      'x-gateway-cost-center': 'caller-center',
      'x-gateway-session-id': 'caller-session',
      'helicone-auth': 'Bearer caller-helicone',
      'helicone-target-url': 'http://127.0.0.1:9/caller-target',
      'x-portkey-custom-host': 'http://127.0.0.1:9/caller-portkey',
      'openai-organization': 'caller-org',
      'x-anything': 'caller-anything',
      origin: url,
      referer: `${url}/caller-page`,
    }
    expect((await post(sent)).status).toBe(200)
    const received = t.upstream.requests.at(-1)
    const text = JSON.stringify(received?.headers)
    for (const value of Object.values(sent)) if (/caller|203\.0/.test(value)) expect(text).not.toContain(value)
    expect(text).not.toContain(key)
    expect(received?.headers.authorization).toBe('Bearer sk-upstream')
    expect(received?.headers['accept-encoding'] ?? 'identity').toBe('identity')
  })

  it('a connection header cannot name away the credential (H2)', async () => {
    const body = JSON.stringify(ask('chat/m'))
    const answer = await rawHttp(
      Number(new URL(url).port),
      `POST /v1/chat/completions HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer ${key}\r\nconnection: close, authorization, content-type\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
    )
    expect(answer).toMatch(/^HTTP\/1\.1 200 /)
    expect(t.upstream.requests.at(-1)?.headers.authorization).toBe('Bearer sk-upstream')
  })

  it('no text of a request becomes a header line: model, user, cost center (H3)', async () => {
    const before = t.upstream.requests.length
    expect((await post({}, ask('chat/m\r\nx-injected: 1'))).status).toBe(400)
    expect(t.upstream.requests.length).toBe(before)
    expect((await post({}, { ...ask('chat/m'), user: 'a\r\nx-injected: 1' })).status).toBe(200)
    expect(t.upstream.requests.at(-1)?.headers).not.toHaveProperty('x-injected')
  })
})

describe('towards the caller', () => {
  it('of the upstream’s headers only those that mean something here come through (H4)', async () => {
    t.upstream.script(
      text('hello', {
        headers: {
          'set-cookie': 'upstream=1',
          server: 'upstream-server',
          location: 'http://upstream.test/',
          'access-control-allow-origin': '*',
          'x-powered-by': 'upstream-power',
          'content-security-policy': "default-src 'none'",
          'strict-transport-security': 'max-age=1',
          'x-request-id': 'upstream-id',
        },
      }),
    )
    const response = await post({})
    expect(response.status).toBe(200)
    for (const name of [
      'set-cookie',
      'server',
      'location',
      'access-control-allow-origin',
      'x-powered-by',
      'strict-transport-security',
    ])
      expect(response.headers.get(name), name).toBeNull()
    expect(response.headers.get('x-request-id')).toMatch(/^req_/)
    expect(response.headers.get('content-type')).toMatch(/^application\/json/)
  })

  it('text that looks like frames stays text in a stream (H5)', async () => {
    const evil = 'a\n\ndata: {"evil":true}\n\nevent: evil\r\rdata: [DONE]\u2028\u0000end'
    t.upstream.script(text(evil))
    const response = await post({}, { ...ask('chat/m'), stream: true })
    const body = await response.text()
    const frames = body.split('\n\n').filter((frame) => frame.startsWith('data: {'))
    const said = frames
      .map((frame) => JSON.parse(frame.slice(6)) as { choices: { delta: { content?: string } }[] })
      .map(({ choices }) => choices[0]?.delta.content ?? '')
      .join('')
    expect(said).toBe(evil)
    expect(body).not.toMatch(/^event: evil/m)
    expect(body.match(/^data: \[DONE\]$/gm)).toHaveLength(1)
  })

  it('every answer, of both planes, has an id, is kept by no cache, sniffed by no browser and names nobody', async () => {
    const asked: [string, RequestInit, number][] = [
      ['/v1/chat/completions', { method: 'POST', body: JSON.stringify(ask('chat/m')) }, 200],
      ['/v1/chat/completions', { method: 'POST', body: JSON.stringify({ ...ask('chat/m'), stream: true }) }, 200],
      ['/v1/chat/completions', { method: 'POST', body: '{' }, 400],
      ['/v1/chat/completions', {}, 405],
      ['/v1/nothing', {}, 404],
      ['/v1/models', {}, 401],
      ['/api/settings', {}, 200],
      ['/api/nothing', {}, 404],
      ['/api/audit/export', {}, 200],
      ['/api/savings/export', {}, 200],
      ['/api/reports?format=csv', {}, 200],
      ['/api/events', {}, 200],
      ['/healthz', {}, 200],
      ['/healthz', { method: 'HEAD' }, 200],
      ['/health/readiness', {}, 200],
      ['/metrics', {}, 200],
      ['/nothing', {}, 404],
    ]
    // No proxy or middleware may gather or compress events.
    const stored = (headers: Headers) =>
      headers.get('content-type')?.startsWith('text/event-stream') ? 'no-store, no-transform' : 'no-store'
    const ids = new Set<string | null>()
    for (const [path, init, status] of asked) {
      const { headers, status: seen, body } = await fetch(`${url}${path}`, init)
      await body?.cancel()
      const said = ['cache-control', 'x-content-type-options', 'referrer-policy'].map((name) => headers.get(name))
      expect([path, seen, ...said]).toEqual([path, status, stored(headers), 'nosniff', 'no-referrer'])
      expect([headers.get('server'), headers.get('x-powered-by')]).toEqual([null, null])
      const id = headers.get('x-gateway-request-id')
      expect([path, id]).toEqual([path, expect.stringMatching(/^req_[0-9a-f-]{36}$/)])
      expect([path, headers.get('x-request-id')]).toEqual([path, id])
      ids.add(id)
    }
    expect(ids.size).toBe(asked.length)
  })

  it('no answer grants another origin anything (W3)', async () => {
    for (const [path, method] of [
      ['/v1/chat/completions', 'OPTIONS'],
      ['/api/keys', 'OPTIONS'],
      ['/healthz', 'GET'],
    ] as const) {
      const response = await fetch(`${url}${path}`, {
        method,
        headers: { origin: 'https://evil.test', 'access-control-request-method': 'POST' },
      })
      expect(response.headers.get('access-control-allow-origin'), path).toBeNull()
    }
  })
})
