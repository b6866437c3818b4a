// The interception proxy with real TLS clients: what is converted, what passes through, and what is refused.
import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import fc from 'fast-check'
import OpenAI from 'openai'
import { Agent, fetch as undiciFetch } from 'undici'
import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import type { TestGateway } from '../../../adapters/testing/index.ts'
import { folder } from '../../adapters/cli/hookgate.ts'
import { ANSWER, call, type FakeHost, fakeHost, HOST, intercepting, overTls } from './support.ts'

let vendor: FakeHost
let t: TestGateway
let port: number
let ca: string
let trust: string

beforeAll(async () => {
  vendor = await fakeHost(join(folder({}), 'vendor'))
  ;({ t, trust } = await intercepting(vendor, { enabled: true, installCa: true }))
  await t.listen()
  await vi.waitFor(() => expect(existsSync(join(trust, 'hookgate-interception.crt'))).toBe(true), 15_000)
  port = (await call(t, 'GET', '/api/mitm')).body.port
  ca = (await call(t, 'GET', '/api/mitm/ca.pem')).body.text
  await call(t, 'PUT', '/api/mitm/aliases', { ide: { 'vendor-1': 'chat/model-x', 'gem-1': 'generate_content/gem-x' } })
})
afterAll(async () => {
  await t.close()
  vendor.close()
})

/** The OpenAI SDK, as a tool would use it: the vendor's name, and the CA of the proxy. */
function openai(): OpenAI {
  const lookup = (_host: string, _options: unknown, done: (error: null, list: object[]) => void) =>
    done(null, [{ address: '127.0.0.1', family: 4 }])
  const dispatcher = new Agent({ connect: { ca, lookup: lookup as never } })
  const fetch = (url: string, init: object) => undiciFetch(url, { ...init, dispatcher } as never)
  return new OpenAI({ apiKey: 'sk-of-the-vendor', baseURL: `https://${HOST}:${port}/v1`, fetch: fetch as never, maxRetries: 0 })
}

it('answers the OpenAI SDK through the gateway, whole and streamed, with the model of the alias', async () => {
  const messages = [{ role: 'user' as const, content: 'Hello' }]
  const before = t.settled.length
  const answer = await openai().chat.completions.create({ model: 'vendor-1', messages })
  expect(answer.choices[0]?.message.content).toBe('From the gateway.')
  const stream = await openai().chat.completions.create({ model: 'vendor-1', messages, stream: true })
  let streamed = ''
  for await (const chunk of stream) streamed += chunk.choices[0]?.delta.content ?? ''
  expect(streamed).toBe('From the gateway.')
  await t.untilSettled(before + 2)
  for (const { ctx } of t.settled.slice(before)) expect([ctx.source, ctx.requestedModel]).toEqual(['mitm', 'chat/model-x'])
  expect(vendor.received).toEqual([])
  expect(JSON.stringify(t.upstream.requests)).not.toContain('sk-of-the-vendor')
})

it('answers curl on a path of its own, with the model in the path', async () => {
  const body = JSON.stringify({ contents: [{ role: 'user', parts: [{ text: 'Hello' }] }] })
  const url = `https://${HOST}:${port}/private/gen/gem-1:generateContent?key=vendor-key`
  const file = join(folder({ 'ca.pem': ca }), 'ca.pem')
  const args = [
    '-sS',
    '--resolve',
    `${HOST}:${port}:127.0.0.1`,
    '--cacert',
    file,
    '-H',
    'content-type: application/json',
    '-d',
    body,
    url,
  ]
  const { stdout } = await promisify(execFile)('curl', args)
  expect(JSON.parse(stdout).candidates[0].content.parts[0].text).toBe('From the gateway.')
  expect(t.settled.at(-1)?.ctx.requestedModel).toBe('generate_content/gem-x')
})

it('reads a body with a content encoding, and refuses one that it does not know', async () => {
  const { gzipSync } = await import('node:zlib')
  const body = gzipSync(JSON.stringify({ model: 'vendor-1', messages: [{ role: 'user', content: 'Hello' }] }))
  const head = (encoding: string): string =>
    `POST /v1/chat/completions HTTP/1.1\r\nHost: ${HOST}\r\nContent-Encoding: ${encoding}\r\nContent-Length: ${body.length}\r\nConnection: close\r\n\r\n`
  const answered = await overTls(port, ca, Buffer.concat([Buffer.from(head('gzip')), body]))
  expect(answered.toString()).toMatch(/^HTTP\/1\.1 200 [\s\S]*From the gateway\./)
  expect((await overTls(port, ca, Buffer.concat([Buffer.from(head('zstd')), body]))).toString()).toMatch(/^HTTP\/1\.1 415 /)
})

/** Pairs without the header of the connection itself, which each connection has of its own. */
const pairs = (list: readonly string[]): string[] =>
  list.flatMap((name, index) =>
    index % 2 === 0 && !/^(?:connection|keep-alive)$/i.test(name) ? [`${name}: ${list[index + 1]}`] : [],
  )

it('passes every other request on as it was sent, and the answer as it came', async () => {
  const token = fc
    .stringMatching(/^[A-Za-z][A-Za-z0-9-]{0,12}$/)
    .filter((name) => !/^(?:host|connection|content|transfer|expect|upgrade|keep|te$|trailer|proxy)/i.test(name))
  const value = fc.stringMatching(/^[!-~]([ -~]{0,30}[!-~])?$/)
  const request = fc.record({
    method: fc.constantFrom('GET', 'POST', 'PUT', 'DELETE', 'PATCH', 'OPTIONS'),
    path: fc.stringMatching(/^\/[A-Za-z0-9%._~!$&'()*+,;=:@/-]{0,40}(\?[A-Za-z0-9%=&+./-]{0,20})?$/),
    headers: fc.array(fc.tuple(token, value), { maxLength: 8 }),
    body: fc.uint8Array({ maxLength: 200 }),
  })
  await fc.assert(
    fc.asyncProperty(request, async ({ method, path, headers, body }) => {
      const length = method === 'GET' || method === 'OPTIONS' ? [] : [`Content-Length: ${body.length}`]
      const lines = [
        `${method} ${path} HTTP/1.1`,
        `HOST: ${HOST}`,
        ...headers.map(([name, text]) => `${name}: ${text}`),
        ...length,
        'Connection: close',
      ]
      const sent = Buffer.concat([Buffer.from(`${lines.join('\r\n')}\r\n\r\n`), length.length === 0 ? Buffer.alloc(0) : body])
      const answer = await overTls(port, ca, sent)
      const got = vendor.received.pop()
      expect([got?.method, got?.url, pairs(got?.headers ?? [])]).toEqual([method, path, lines.slice(1, -1)])
      expect(got?.body).toEqual(length.length === 0 ? Buffer.alloc(0) : Buffer.from(body))
      const [head = '', ...rest] = answer.toString('latin1').split('\r\n\r\n')
      const [first, ...fields] = head.split('\r\n')
      expect(first).toBe(`HTTP/1.1 ${ANSWER.status} ${ANSWER.message}`)
      const wanted = pairs(ANSWER.headers)
      expect(fields.filter((line) => wanted.includes(line))).toEqual(wanted)
      expect(rest.join('\r\n\r\n')).toContain(ANSWER.body.toString('latin1'))
    }),
    { numRuns: 40, seed: 11 },
  )
})

it('passes a GET of an inference path, chunked bodies and changes of protocol on', async () => {
  const get = `GET /v1/chat/completions HTTP/1.1\r\nHost: ${HOST}\r\nConnection: close\r\n\r\n`
  expect((await overTls(port, ca, get)).toString('latin1')).toContain('207 Multi-Ish')
  const chunked = `POST /v1/files HTTP/1.1\r\nHost: ${HOST}\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n`
  await overTls(port, ca, chunked)
  expect(vendor.received.pop()?.body.toString()).toBe('abcde')
  const upgrade = `GET /live HTTP/1.1\r\nHost: ${HOST}\r\nUpgrade: echo\r\nConnection: Upgrade\r\n\r\nraw bytes`
  expect((await overTls(port, ca, upgrade, { until: /raw bytes$/ })).toString()).toMatch(/^HTTP\/1\.1 101 [\s\S]*raw bytes$/)
  expect(vendor.received.pop()?.headers).toContain('echo')
})

it('refuses the handshake for another name and for none, and a request for another host', async () => {
  for (const servername of ['other.vendor.test', 'vendor.test', ''])
    await expect(overTls(port, ca, 'GET / HTTP/1.1\r\n\r\n', { servername })).rejects.toThrow()
  const answer = await overTls(port, ca, 'GET / HTTP/1.1\r\nHost: other.test\r\nConnection: close\r\n\r\n')
  expect(answer.toString()).toMatch(/^HTTP\/1\.1 421 /)
})
