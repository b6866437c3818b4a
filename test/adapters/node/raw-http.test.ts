// Attacks on the Node host from a raw socket.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createTestGateway, type TestGateway } from '../../../adapters/testing/test-gateway.ts'
import { wordCode } from '../../support/google-error.ts'
import { ask, collect, DIALECTS, openSocket, post, rawHttp, until } from './support.ts'

let t: TestGateway
let port: number
let url: string

beforeAll(async () => {
  t = await createTestGateway({ config: { connections: { echo: { provider: 'echo' } } } })
  ;({ port, url } = await t.listen())
})
afterAll(() => t.close())

const BODY = JSON.stringify(ask('chat', 'echo/echo-1').body)
const HEAD = 'POST /v1/chat/completions HTTP/1.1\r\nhost: localhost\r\n'

describe('request smuggling (H1)', () => {
  it.each([
    ['content-length beside transfer-encoding', `${HEAD}content-length: 4\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n`],
    ['two content-lengths', `${HEAD}content-length: 4\r\ncontent-length: 5\r\n\r\n{}  `],
    ['transfer-encoding other than chunked', `${HEAD}transfer-encoding: xchunked\r\n\r\n0\r\n\r\n`],
    ['two transfer-encodings', `${HEAD}transfer-encoding: chunked\r\ntransfer-encoding: identity\r\n\r\n0\r\n\r\n`],
    ['a blank before the colon', `${HEAD}transfer-encoding : chunked\r\n\r\n0\r\n\r\n`],
    ['a folded header', `${HEAD}x-a: 1\r\n 2\r\ncontent-length: 2\r\n\r\n{}`],
    ['NUL in a header', `${HEAD}x-a: 1\0\r\ncontent-length: 2\r\n\r\n{}`],
    ['a bare CR in a header', `${HEAD}x-a: 1\rx-b: 2\r\ncontent-length: 2\r\n\r\n{}`],
    ['a negative content-length', `${HEAD}content-length: -1\r\n\r\n`],
    ['an unknown HTTP version', 'POST /v1/chat/completions HTTP/9.9\r\nhost: localhost\r\n\r\n'],
    ['no HTTP at all', 'hello\r\n\r\n'],
  ])('%s is 400 and the connection is closed', async (_what, text) => {
    // A request after it must never be answered.
    const answer = await rawHttp(port, `${text}GET /healthz HTTP/1.1\r\nhost: localhost\r\n\r\n`)
    expect(answer).toMatch(/^HTTP\/1\.1 400 /)
    expect(answer.match(/HTTP\/1\.1 /g)).toHaveLength(1)
  })

  it('two requests on one connection get two answers, in order', async () => {
    const one = `${HEAD}content-length: ${BODY.length}\r\n\r\n${BODY}`
    const answer = await rawHttp(port, `${one}GET /healthz HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n`)
    expect(answer.match(/HTTP\/1\.1 200 /g)).toHaveLength(2)
    expect(answer.indexOf('chat.completion')).toBeLessThan(answer.indexOf('"profile"'))
  })
})

describe('header limits (H7)', () => {
  it('16 KiB of headers are 431', async () => {
    expect(await rawHttp(port, `${HEAD}x-big: ${'a'.repeat(17_000)}\r\n\r\n`)).toMatch(/^HTTP\/1\.1 431 /)
  })

  it('more than 100 header lines are 431, 100 are not', async () => {
    const lines = (count: number) => Array.from({ length: count }, (_, i) => `x-${i}: y\r\n`).join('')
    const request = (count: number) => `${HEAD}connection: close\r\n${lines(count)}content-length: ${BODY.length}\r\n\r\n${BODY}`
    expect(await rawHttp(port, request(98))).toMatch(/^HTTP\/1\.1 431 [\s\S]*"code":"too_many_headers"/)
    expect(await rawHttp(port, request(97))).toMatch(/^HTTP\/1\.1 200 /)
  })
})

describe('request targets (H6)', () => {
  it('an absolute form is reduced to its path', async () => {
    const text = `POST http://localhost:8788/v1/chat/completions HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\ncontent-length: ${BODY.length}\r\n\r\n${BODY}`
    expect(await rawHttp(port, text)).toMatch(/^HTTP\/1\.1 200 /)
    expect(await rawHttp(port, 'GET http://localhost/healthz HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n')).toMatch(
      /^HTTP\/1\.1 200 /,
    )
  })

  it.each([
    '//v1/chat/completions',
    '/V1/chat/completions',
    '/v1//chat/completions',
    '/v1/chat%2Fcompletions',
    '/v1/./chat/completions',
    '/v1/chat/completions/',
  ])('%s is no route of ours: 404 unknown_url in JSON', async (target) => {
    const answer = await rawHttp(
      port,
      `POST ${target} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\ncontent-length: ${BODY.length}\r\n\r\n${BODY}`,
    )
    expect(answer).toMatch(/^HTTP\/1\.1 404 [\s\S]*"code":"unknown_url"/)
  })

  it.each([
    ['//healthz', 404],
    ['/HEALTHZ', 404],
    ['/healthz%00', 404],
  ])('%s reaches no control route by another spelling: %d', async (target, status) => {
    const answer = await rawHttp(port, `GET ${target} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n`)
    expect(answer).toMatch(new RegExp(`^HTTP/1\\.1 ${status} [\\s\\S]*"code":"unknown_url"`))
  })

  it.each([
    'host: localhost',
    'authorization: Bearer a',
    'x-api-key: a',
  ])('%s twice is 400 on the control plane', async (line) => {
    const lines = [
      'GET /healthz HTTP/1.1',
      ...(line.startsWith('host') ? [] : ['host: localhost']),
      line,
      line,
      'connection: close',
    ]
    expect(await rawHttp(port, `${lines.join('\r\n')}\r\n\r\n`)).toMatch(/^HTTP\/1\.1 400 [\s\S]*is sent twice/)
  })

  it('a WebSocket upgrade of a route without sockets is 426, so that clients fall back to POST', async () => {
    const upgrade =
      'GET /v1/chat/completions HTTP/1.1\r\nhost: localhost\r\nconnection: upgrade\r\nupgrade: websocket\r\nsec-websocket-version: 13\r\nsec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n'
    // The connection stays open.
    const socket = await openSocket(port)
    const answer = collect(socket)
    socket.write(upgrade)
    await until(() => answer().includes('websocket_not_supported'))
    expect(answer()).toMatch(/^HTTP\/1\.1 426 /)
    socket.destroy()
  })

  it('another method is 405 with Allow', async () => {
    const answer = await rawHttp(port, 'GET /v1/messages HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n')
    expect(answer).toMatch(/^HTTP\/1\.1 405 [\s\S]*allow: POST[\s\S]*method_not_allowed/i)
  })
})

describe('bodies', () => {
  it.each(DIALECTS)('Expect: 100-continue with a huge length is 413 in %s, and 100 is never said (D2)', async (dialect) => {
    const { path } = ask(dialect, 'echo/echo-1')
    const answer = await rawHttp(
      port,
      `POST ${path} HTTP/1.1\r\nhost: localhost\r\nexpect: 100-continue\r\ncontent-length: 9999999999\r\n\r\n`,
    )
    expect(answer).toMatch(/^HTTP\/1\.1 413 /)
    expect(answer).not.toContain('100 Continue')
    const body = JSON.parse(answer.slice(answer.indexOf('\r\n\r\n') + 4)) as { type?: string; error: { code: unknown } }
    expect(wordCode(body.error)).toBe('request_too_large')
    if (dialect === 'messages') expect(body.type).toBe('error')
  })

  it('Expect: 100-continue by somebody who may not call is 401, and 100 is never said', async () => {
    const answer = await rawHttp(
      port,
      'POST /v1/messages HTTP/1.1\r\nhost: evil.example\r\nexpect: 100-continue\r\ncontent-length: 20\r\n\r\n',
    )
    expect(answer).toMatch(/^HTTP\/1\.1 401 /)
    expect(answer).not.toContain('100 Continue')
  })

  it('Expect: 100-continue with a fitting length is told to go on, once', async () => {
    const socket = await openSocket(port)
    const answer = collect(socket)
    socket.write(`${HEAD}expect: 100-continue\r\nconnection: close\r\ncontent-length: ${BODY.length}\r\n\r\n`)
    await until(() => answer().includes('\r\n\r\n'))
    expect(answer()).toBe('HTTP/1.1 100 Continue\r\n\r\n')
    socket.write(BODY)
    await until(() => answer().includes('chat.completion'))
    expect(answer()).toContain('HTTP/1.1 200 OK')
    socket.destroy()
  })

  it('one byte over the limit is 413 by its length and chunked; a client that sends it all still reads the answer (D1)', async () => {
    const small = await createTestGateway({
      config: { connections: { echo: { provider: 'echo' } } },
      env: { MAX_BODY_BYTES: '100000' },
    })
    const server = await small.listen()
    const call = ask('chat', 'echo/echo-1')
    const padded = (bytes: number) => {
      const text = JSON.stringify(call.body)
      return text + ' '.repeat(bytes - text.length)
    }
    const send = (body: string | ReadableStream) =>
      fetch(server.url + call.path, {
        method: 'POST',
        body,
        ...(typeof body === 'string' ? {} : { duplex: 'half' }),
      } as RequestInit)
    expect((await send(padded(100_000))).status).toBe(200)
    for (const body of [padded(100_001), padded(3_000_000), new Blob([padded(100_001)]).stream()]) {
      const response = await send(body)
      expect(response.status).toBe(413)
      expect(await response.json()).toMatchObject({ error: { code: 'request_too_large', param: null } })
    }
    await small.close()
  })

  it('a compressed body is 415 (D3)', async () => {
    const response = await post(url, ask('chat', 'echo/echo-1'), { headers: { 'content-encoding': 'gzip' } })
    expect(response.status).toBe(415)
  })

  it('a whole answer leaves with its length', async () => {
    const response = await post(url, ask('chat', 'echo/echo-1'))
    const text = await response.text()
    expect(response.headers.get('content-length')).toBe(String(Buffer.byteLength(text)))
    expect(response.headers.get('transfer-encoding')).toBeNull()
  })

  it('a client that leaves while it sends harms nobody', async () => {
    const socket = await openSocket(port)
    socket.write(`${HEAD}content-length: 500\r\n\r\n{"model":`)
    await new Promise((resolve) => setTimeout(resolve, 50))
    socket.destroy()
    expect((await post(url, ask('chat', 'echo/echo-1'))).status).toBe(200)
    await until(() => [...t.gateway.live()].length === 0)
  })
})
