// Routes, methods, sizes and encodings: errors in the request itself.
import { once } from 'node:events'
import { type IncomingMessage, request } from 'node:http'
import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createTestGateway, type TestGateway, text } from '../../adapters/testing/index.ts'
import { ENDPOINTS, type Endpoint } from './support/endpoints.ts'
import { envelopeOf, routeDialect } from './support/envelope.ts'

let t: TestGateway
let port = 0
const LIMIT = 20_000
beforeAll(async () => {
  t = await createTestGateway({ env: { MAX_BODY_BYTES: String(LIMIT) }, upstream: [text('fine')] })
  port = (await t.listen()).port
})
afterAll(() => t.close())

const PLAIN = ENDPOINTS.filter(({ stream, name }) => !stream && !name.startsWith('chat with'))
const at = (endpoint: Endpoint, model = 'chat/m') => endpoint.request(model)

describe('routes and methods', () => {
  const UNKNOWN = [
    '/v1',
    '/v1/',
    '/v1/nope',
    '/v1/chat/completions/',
    '/v1//chat/completions',
    '/v1/chat%2Fcompletions',
    '/v1/embedding',
    '/v1/messages/x',
    '/v1beta',
    '/v1beta/models/m:doIt',
    '/v1beta/models/%zz:generateContent',
  ]
  it.each(UNKNOWN)('%s is 404 unknown_url', async (path) => {
    const dialect = path.startsWith('/v1beta') ? 'generate_content' : path.startsWith('/v1/messages') ? 'messages' : 'chat'
    for (const method of ['POST', 'GET']) {
      const response = await t.fetch(path, method === 'POST' ? { method, body: '{}' } : { method })
      const error = envelopeOf(dialect, await response.text())
      expect([response.status, error.type, error.code]).toEqual([404, 'invalid_request_error', 'unknown_url'])
    }
  })

  it.each([
    ['/v1/v1/messages', '/v1/messages'],
    ['/v1/v1/chat/completions', '/v1/chat/completions'],
    ['/chat/completions', '/v1/chat/completions'],
    ['/responses', '/v1/responses'],
    ['/v1/chat/completions/', '/v1/chat/completions'],
  ])('%s comes of a wrong base URL, and the answer says %s', async (path, meant) => {
    const response = await fetch(`http://127.0.0.1:${port}${path}`, { method: 'POST', body: '{}' })
    const error = envelopeOf('chat', await response.text())
    expect([response.status, error.code]).toEqual([404, 'unknown_url'])
    expect(error.message).toContain(`Did you mean ${meant}? Look at the base URL of your client.`)
  })

  it('another method is 405 with Allow, in the dialect of the path', async () => {
    for (const endpoint of PLAIN) {
      for (const method of ['GET', 'PUT', 'DELETE', 'PATCH', 'OPTIONS']) {
        const response = await t.fetch(at(endpoint).path, { method })
        const error = envelopeOf(routeDialect(endpoint), await response.text())
        expect([response.status, response.headers.get('allow'), error.code]).toEqual([405, 'POST', 'method_not_allowed'])
      }
    }
  })

  it('a WebSocket upgrade of a route without sockets is 426', async () => {
    for (const path of ['/v1/messages', '/v1/messages?model=x']) {
      const req = request({
        port,
        host: '127.0.0.1',
        path,
        headers: {
          connection: 'Upgrade',
          upgrade: 'websocket',
          'sec-websocket-key': 'x3JJHMbDL1EzLkh9GBhXDw==',
          'sec-websocket-version': '13',
        },
      })
      req.end()
      const [res] = (await once(req, 'response')) as [IncomingMessage]
      const answer = Buffer.concat(await res.toArray()).toString()
      expect([res.statusCode, envelopeOf('messages', answer).code]).toEqual([426, 'websocket_not_supported'])
    }
  })
})

describe('too much', () => {
  const limits = PLAIN.map((endpoint) => ({
    endpoint,
    limit: endpoint.caller === 'generate_content' || endpoint.operation === 'count_tokens' ? 2 << 20 : LIMIT,
    name: endpoint.name,
  }))
  const padded = (endpoint: Endpoint, size: number) => {
    const body = JSON.stringify({ ...at(endpoint, endpoint.operation === 'chat' ? 'chat/m' : 'messages/m').body, pad: '' })
    return Buffer.from(body.replace('"pad":""', `"pad":"${'x'.repeat(size - body.length)}"`))
  }

  async function send(
    path: string,
    body: Buffer,
    chunked: boolean,
  ): Promise<{ status: number; text: string; headers: IncomingMessage['headers'] }> {
    const headers = {
      'content-type': 'application/json',
      ...(chunked ? { 'transfer-encoding': 'chunked' } : { 'content-length': String(body.length) }),
    }
    const req = request({ port, host: '127.0.0.1', path, method: 'POST', headers })
    req.on('error', () => {})
    for (let from = 0; from < body.length; from += 65_536) req.write(body.subarray(from, from + 65_536))
    req.end()
    const [res] = (await once(req, 'response')) as [IncomingMessage]
    const answer = Buffer.concat(await res.toArray().catch(() => [])).toString()
    return { status: res.statusCode as number, text: answer, headers: res.headers }
  }

  it.each(limits)('$name: $limit bytes are taken, one more is 413, by length and chunked', async ({ endpoint, limit }) => {
    for (const chunked of [false, true]) {
      const { path } = at(endpoint, endpoint.operation === 'chat' ? 'chat/m' : 'messages/m')
      expect((await send(path, padded(endpoint, limit), chunked)).status).toBe(200)
      const over = await send(path, padded(endpoint, limit + 1), chunked)
      expect(over.status).toBe(413)
      expect(envelopeOf(routeDialect(endpoint), over.text)).toMatchObject({
        type: 'invalid_request_error',
        code: 'request_too_large',
        param: null,
      })
      // A short body of a known length is dropped, and the connection stays. A chunked body has no known end, so its connection closes,
      // unless the end has arrived already.
      if (limit > 65_536) expect(over.headers.connection).toBe('close')
      else expect(over.headers.connection).toMatch(chunked ? /^(?:close|keep-alive)$/ : /^keep-alive$/)
      // The web entry applies the same rules.
      const web = await t.fetch(path, { method: 'POST', body: padded(endpoint, limit + 1) as unknown as BodyInit })
      expect(web.status).toBe(413)
    }
  })

  it('a declared length over the limit is refused before the body comes', async () => {
    const req = request({
      port,
      host: '127.0.0.1',
      path: '/v1/messages',
      method: 'POST',
      headers: { 'content-length': '999999999999' },
    })
    req.on('error', () => {})
    req.flushHeaders()
    const [res] = (await once(req, 'response')) as [IncomingMessage]
    expect(res.statusCode).toBe(413)
    req.destroy()
  })

  it('a compressed body is 415', async () => {
    for (const endpoint of PLAIN) {
      const body = gzipSync(Buffer.from(JSON.stringify(at(endpoint).body)))
      for (const encoding of ['gzip', 'br', 'deflate', 'GZIP']) {
        const response = await t.fetch(at(endpoint).path, {
          method: 'POST',
          body: body as unknown as BodyInit,
          headers: { 'content-encoding': encoding },
        })
        expect(response.status).toBe(415)
        expect(envelopeOf(routeDialect(endpoint), await response.text()).code).toBe('unsupported_content_encoding')
      }
    }
  })
})
