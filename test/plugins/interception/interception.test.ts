// The interception proxy with real TLS clients: what is converted, what passes through, what is refused, and what is undone.
import { execFile } from 'node:child_process'
import { X509Certificate } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { promisify } from 'node:util'
import fc from 'fast-check'
import OpenAI from 'openai'
import { Agent, fetch as undiciFetch } from 'undici'
import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { createTestGateway, type TestGateway, text } from '../../../adapters/testing/index.ts'
import { mappedHosts, writeHosts } from '../../../plugins/interception/hosts-file.ts'
import { preset } from '../../../plugins/preset.ts'
import { folder } from '../../adapters/cli/hookgate.ts'
import { ANSWER, type FakeHost, fakeHost, HOST, overTls } from './support.ts'

const HOSTS = '127.0.0.1 localhost\n10.0.0.1 intranet # ours\n'
let vendor: FakeHost
const gateways: TestGateway[] = []
let t: TestGateway
let port: number
let ca: string
let hostsFile: string
let dataDir: string
let trust: string

interface Made {
  readonly t: TestGateway
  readonly dataDir: string
  readonly hostsFile: string
}

async function gateway(options: object, env: Record<string, string> = {}, places: Partial<Made> = {}): Promise<Made> {
  const data = places.dataDir ?? folder({})
  const file = places.hostsFile ?? join(folder({ hosts: HOSTS }), 'hosts')
  const inference = [{ path: '/v1/chat/completions' }, { path: '/private/gen/*', to: '/v1beta/models/*' }]
  const hosts = [{ host: HOST, tool: 'ide', inference, address: vendor.address, ca: vendor.ca }]
  const trustStore = { folder: trust, update: ['true'] }
  const made = await createTestGateway({
    config: { plugins: preset({ interception: { hosts, hostsFile: file, trustStore, port: 0, ...options } }) },
    env: { DATA_DIR: data, ...env },
    upstream: Array.from({ length: 40 }, () => text('From the gateway.')),
  })
  gateways.push(made)
  return { t: made, dataDir: data, hostsFile: file }
}

interface Body {
  readonly port: number
  readonly text: string
  readonly command: string | null
}

async function call(method: string, route: string, body?: object, of = t): Promise<{ status: number; body: Body }> {
  const request = new Request(`http://gateway.test${route}`, {
    method,
    ...(body === undefined ? {} : { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }),
  })
  const operator = { actor: 'test', orgId: null, role: 'system', readOnly: false, auth: 'host' } as const
  const answer = await of.gateway.control.fetch(request, { address: null, local: false, secure: true, operator })
  const json = answer.headers.get('content-type')?.includes('json')
  return { status: answer.status, body: (json ? await answer.json() : { text: await answer.text() }) as never }
}

beforeAll(async () => {
  trust = folder({})
  vendor = await fakeHost(join(folder({}), 'vendor'))
  ;({ t, dataDir, hostsFile } = await gateway({ enabled: true, manageHosts: true, installCa: true }))
  await t.listen()
  await vi.waitFor(() => expect(existsSync(join(trust, 'hookgate-interception.crt'))).toBe(true), 15_000)
  port = (await call('GET', '/api/mitm')).body.port
  ca = (await call('GET', '/api/mitm/ca.pem')).body.text
  await call('PUT', '/api/mitm/aliases', { ide: { 'vendor-1': 'chat/model-x', 'gem-1': 'generate_content/gem-x' } })
})
afterAll(async () => {
  for (const made of gateways) await made.close()
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

it('has a CA for this installation, limited to the intercepted hosts, with a key that only its owner reads', async () => {
  const { ca: shown } = (await call('GET', '/api/mitm')).body as unknown as { ca: Record<string, string> }
  const certificate = new X509Certificate(ca)
  expect(shown.fingerprint_sha256).toBe(certificate.fingerprint256.replaceAll(':', '').toLowerCase())
  expect(certificate.ca).toBe(true)
  expect(statSync(join(dataDir, 'mitm/ca.key')).mode & 0o777).toBe(0o600)
  expect(statSync(join(dataDir, 'mitm')).mode & 0o777).toBe(0o700)
  expect(Date.parse(certificate.validTo) - Date.now()).toBeGreaterThan(728 * 86_400_000)
  // OpenSSL reads the constraint, and refuses a certificate of another host that this CA signed.
  const { newAuthority } = await import('../../../plugins/interception/authority.ts')
  const own = await newAuthority(join(folder({}), 'ca'), [HOST], () => Date.now())
  const { cert, key } = await own.leaf('www.bank.test')
  const { createServer: tlsServer, connect } = await import('node:tls')
  const server = tlsServer({ cert, key }).listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  const error = await new Promise<NodeJS.ErrnoException>((resolve) =>
    connect({
      host: '127.0.0.1',
      port: (server.address() as { port: number }).port,
      servername: 'www.bank.test',
      ca: own.pem,
    }).on('error', resolve),
  )
  server.close()
  expect(error.message).toMatch(/permitted subtree violation/)
})

it('writes its lines into the hosts file and its CA into the trust store, and undoes both when it stops', async () => {
  const { body } = await call('GET', '/api/mitm')
  expect(body).toMatchObject({
    enabled: true,
    running: true,
    hosts: [{ host: HOST, tool: 'ide', mapped: true }],
    ca: { exists: true, installed: true },
  })
  expect(readFileSync(hostsFile, 'utf8')).toMatch(
    new RegExp(`^${HOSTS}# hookgate begin.*\\n127\\.0\\.0\\.1 ${HOST}\\n# hookgate end\\n$`),
  )
  const stopped = await call('POST', '/api/mitm/stop')
  expect(stopped.body).toMatchObject({ running: false, port: null, ca: { exists: true, installed: false } })
  expect(readFileSync(hostsFile, 'utf8')).toBe(HOSTS)
  const again = await call('POST', '/api/mitm/start')
  expect(again.body).toMatchObject({ running: true, hosts: [{ mapped: true }], aliases: { ide: { 'vendor-1': 'chat/model-x' } } })
  // The same CA: a client that trusts it goes on.
  expect((await call('GET', '/api/mitm/ca.pem')).body.text).toBe(ca)
  port = again.body.port
})

it('removes what a crashed gateway left, when the next one starts', async () => {
  const { pid = 0 } = execFile('true')
  await new Promise((resolve) => setImmediate(resolve))
  await expect
    .poll(() => {
      try {
        process.kill(pid, 0)
        return true
      } catch {
        return false
      }
    })
    .toBe(false)
  const data = folder({})
  const file = join(folder({ hosts: HOSTS }), 'hosts')
  writeHosts(file, [HOST, 'old.vendor.test'])
  expect(readFileSync(file, 'utf8')).toContain('old.vendor.test')
  mkdirSync(join(data, 'mitm'))
  const written = { pid, hostsFile: true, ca: false }
  writeFileSync(join(data, 'mitm/state.json'), JSON.stringify({ aliases: {}, hosts: [], written }))
  const next = await gateway({}, {}, { dataDir: data, hostsFile: file })
  // A command of the command line has no server, and leaves everything as it is.
  expect(readFileSync(file, 'utf8')).toContain('old.vendor.test')
  await next.t.listen()
  await expect.poll(() => readFileSync(file, 'utf8')).toBe(HOSTS)
  await expect.poll(() => readFileSync(join(data, 'mitm/state.json'), 'utf8')).toContain('"written":null')
})

it('maps single hosts, and names the command where it may not write', async () => {
  const readOnly = join(folder({}), 'no-such-folder/hosts')
  const made = await gateway({}, {}, { hostsFile: readOnly })
  await made.t.listen()
  expect((await call('PUT', '/api/mitm/hosts', { host: 'other.test', mapped: true }, made.t)).status).toBe(404)
  expect((await call('PUT', '/api/mitm/hosts', { host: HOST, mapped: true }, made.t)).body.command).toBeNull()
  await call('POST', '/api/mitm/start', undefined, made.t)
  const { command } = (await call('PUT', '/api/mitm/hosts', { host: HOST, mapped: true }, made.t)).body
  expect(command).toMatch(
    /sudo sed -i.* && printf '%s\\n' '# hookgate begin.*' '127\.0\.0\.1 api\.vendor\.test' '# hookgate end' \| sudo tee -a \S+no-such-folder\/hosts$/,
  )
})

it('the command that is printed does what the gateway would have done', async () => {
  const file = join(folder({ hosts: HOSTS, expected: HOSTS }), 'hosts')
  const sudo = folder({ sudo: '#!/bin/sh\nexec "$@"\n' })
  await promisify(execFile)('chmod', ['+x', join(sudo, 'sudo')])
  const missing = `${file}/under-a-file`
  const command = writeHosts(missing, [HOST])?.replaceAll(missing, file) as string
  await promisify(execFile)('sh', ['-c', command], { env: { PATH: `${sudo}:${process.env.PATH}` } })
  writeHosts(join(file, '../expected'), [HOST])
  expect(readFileSync(file, 'utf8')).toBe(readFileSync(join(file, '../expected'), 'utf8'))
  expect([...mappedHosts(file)]).toEqual(['localhost', HOST])
  const undo = writeHosts(missing, [])
  expect(undo).toBeNull()
})

it('says why it cannot start: no host, a port in use, no data directory', async () => {
  const empty = await gateway({ hosts: [] })
  expect((await call('POST', '/api/mitm/start', undefined, empty.t)).body).toMatchObject({ error: { code: 'no_hosts' } })
  const taken = createServer().listen(0, '127.0.0.1')
  await new Promise((resolve) => taken.once('listening', resolve))
  const { port: used } = taken.address() as { port: number }
  const busy = await gateway({ port: used })
  expect((await call('POST', '/api/mitm/start', undefined, busy.t)).body).toMatchObject({
    error: {
      code: 'not_started',
      message: `The interception proxy cannot listen on 127.0.0.1:${used}: EADDRINUSE. Set GATEWAY_MITM_PORT.`,
    },
  })
  taken.close()
  const kept = await createTestGateway()
  gateways.push(kept)
  expect(await call('GET', '/api/mitm', undefined, kept)).toMatchObject({ status: 409, body: { error: { code: 'no_data_dir' } } })
})

it('does not exist in the cloud profile: 404 for every method, for system administrators too', async () => {
  const cloud = await gateway(
    {},
    { PROFILE: 'cloud', MASTER_KEY: Buffer.from(Array.from({ length: 32 }, (_, index) => index)).toString('base64') },
  )
  for (const route of ['', '/start', '/stop', '/ca/install', '/ca/uninstall', '/ca.pem', '/hosts', '/aliases'])
    for (const method of ['GET', 'POST', 'PUT', 'PATCH', 'DELETE']) {
      const answer = await call(method, `/api/mitm${route}`, method === 'GET' ? undefined : {}, cloud.t)
      expect([method, route, answer.status, answer.body]).toEqual([
        method,
        route,
        404,
        { error: expect.objectContaining({ code: 'unknown_url' }) },
      ])
    }
})
