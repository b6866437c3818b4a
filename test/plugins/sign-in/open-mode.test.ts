// Without a password the control plane is open to whoever sits at the machine, and to nobody who only seems to.
import { request as httpRequest } from 'node:http'
import { networkInterfaces } from 'node:os'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type RunningServer, serve } from '../../../adapters/node/server/serve.ts'
import type { TestGateway } from '../../../adapters/testing/test-gateway.ts'
import { bearer, errorOf, openGateway, securedGateway } from './support.ts'

interface Answer {
  status: number
  headers: Record<string, string | string[] | undefined>
  body: string
}

function send(
  port: number,
  options: { method?: string; path?: string; host?: string; headers?: Record<string, string>; body?: string },
): Promise<Answer> {
  const { method = 'GET', path = '/api/keys', host = '127.0.0.1', headers = {}, body } = options
  return new Promise((resolve, reject) => {
    const sent = httpRequest({ host, port, path, method, headers }, (answer) => {
      let text = ''
      answer.setEncoding('utf8')
      answer.on('data', (chunk) => (text += chunk))
      answer.on('end', () => resolve({ status: answer.statusCode as number, headers: answer.headers, body: text }))
    })
    sent.on('error', reject)
    sent.end(body)
  })
}

const FORWARDING: Record<string, string> = {
  forwarded: 'for=127.0.0.1',
  'x-forwarded-for': '127.0.0.1',
  'x-forwarded-host': 'localhost',
  'x-forwarded-proto': 'https',
  'x-real-ip': '127.0.0.1',
  via: '1.1 proxy',
}

describe('without a password', () => {
  let t: TestGateway
  let server: RunningServer
  let everywhere: RunningServer
  beforeAll(async () => {
    t = await openGateway()
    server = await t.listen()
    everywhere = await serve(t.gateway, { host: '0.0.0.0', port: 0, drainMs: 100 })
  })
  afterAll(async () => {
    everywhere.server.closeAllConnections()
    everywhere.server.close()
    await t.close()
  })
  const host = () => `127.0.0.1:${server.port}`

  it('a local client is the owner', async () => {
    expect((await send(server.port, {})).status).toBe(200)
    expect((await send(server.port, { headers: { host: `localhost:${server.port}` } })).status).toBe(200)
    expect(JSON.parse((await send(server.port, { path: '/api/auth/me' })).body)).toMatchObject({ auth: 'open', role: 'system' })
  })

  it('one that came through a proxy is not, on any route', async () => {
    const paths = t.gateway.api.filter(({ method, role }) => method === 'GET' && role !== 'public').map(({ path }) => path)
    expect(paths.length).toBeGreaterThan(5)
    for (const [name, value] of Object.entries(FORWARDING))
      for (const path of paths)
        expect(
          (await send(server.port, { path: path.replace(/:\w+/, '1'), headers: { [name]: value } })).status,
          `${name} ${path}`,
        ).toBe(401)
    expect((await send(server.port, { headers: { 'x-forwarded-for': '' } })).status).toBe(401)
  })

  it('one from elsewhere is not, and neither is one of whom nobody said where he is', async () => {
    const get = new Request('http://gateway.test/api/keys')
    for (const peer of [
      { address: '192.0.2.1', local: false },
      { address: '127.0.0.1', local: null },
      { address: null, local: null },
      { address: '127.0.0.1' },
      {},
    ])
      expect((await t.gateway.fetch(get.clone(), peer)).status, JSON.stringify(peer)).toBe(401)
    const outward = Object.values(networkInterfaces())
      .flatMap((list) => list ?? [])
      .filter(({ family, internal }) => family === 'IPv4' && !internal)
    for (const { address } of outward) {
      expect((await send(everywhere.port, { host: address })).status, address).toBe(401)
      expect((await send(everywhere.port, { host: address, headers: { host: 'localhost' } })).status, address).toBe(401)
    }
    expect((await send(everywhere.port, {})).status).toBe(200)
  })

  it('the refusal says what to do', async () => {
    const { body, headers } = await send(server.port, { headers: { via: '1.1 proxy' } })
    expect(headers['www-authenticate']).toBe('Bearer')
    expect(JSON.parse(body).error).toMatchObject({ type: 'authentication_error', code: 'invalid_credentials', param: null })
    expect(JSON.parse(body).error.message).toContain('POST /api/login')
  })

  it('a name that was rebound to this machine is not a name of ours (W1)', async () => {
    const foreign = [
      'evil.test',
      `evil.test:${server.port}`,
      '127.0.0.1.nip.io',
      'localhost.evil.test',
      '0.0.0.0',
      '[::]',
      '127.0.0.2',
    ]
    for (const name of foreign) expect((await send(server.port, { headers: { host: name } })).status, name).toBe(401)
    const ours = ['localhost', 'LOCALHOST', host(), '127.0.0.1', '[::1]', `[::1]:${server.port}`]
    for (const name of ours) expect((await send(server.port, { headers: { host: name } })).status, name).toBe(200)
  })

  it('a page of another site neither reads nor writes (W2)', async () => {
    const json = { 'content-type': 'application/json', host: host() }
    const create = (headers: Record<string, string>, body = '{"label":"x"}') =>
      send(server.port, { method: 'POST', headers: { ...json, ...headers }, body })
    const own = { origin: `http://${host()}`, 'sec-fetch-site': 'same-origin' }
    expect((await create(own)).status).toBe(201)
    expect((await create({ 'sec-fetch-site': 'none' })).status).toBe(201)
    const before = JSON.parse((await send(server.port, {})).body).data.length
    const foreign: Record<string, string>[] = [
      { 'sec-fetch-site': 'cross-site' },
      { 'sec-fetch-site': 'same-site' },
      { 'sec-fetch-site': 'CROSS-SITE' },
      { origin: 'https://evil.test' },
      { origin: 'null' },
      { origin: 'http://localhost.evil.test' },
      { origin: 'https://evil.test', 'sec-fetch-site': 'none' },
    ]
    for (const headers of foreign) {
      expect([401, 403], JSON.stringify(headers)).toContain((await create(headers)).status)
      expect([401, 403]).toContain(
        (await send(server.port, { method: 'POST', path: '/api/login', headers: { ...json, ...headers }, body: '{}' })).status,
      )
    }
    // What a form can send without asking first.
    for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data; boundary=x', ''])
      expect((await create({ ...own, 'content-type': type })).status, type).toBe(415)
    expect((await send(server.port, { headers: { origin: 'https://evil.test' } })).status).toBe(401)
    expect(JSON.parse((await send(server.port, {})).body).data).toHaveLength(before)
  })

  it('no answer allows another origin, nor does any preflight (W3)', async () => {
    const asking = {
      origin: 'https://evil.test',
      'access-control-request-method': 'POST',
      'access-control-request-headers': 'authorization',
    }
    for (const path of ['/api/keys', '/api/login', '/api/audit', '/metrics', '/healthz', '/v1/chat/completions'])
      for (const method of ['OPTIONS', 'GET'])
        for (const origin of ['https://evil.test', 'null', `http://${host()}`]) {
          const { status, headers } = await send(server.port, { method, path, headers: { ...asking, origin } })
          expect(
            Object.keys(headers).filter((name) => name.startsWith('access-control-')),
            `${method} ${path}`,
          ).toEqual([])
          if (method === 'OPTIONS') expect([404, 405]).toContain(status)
        }
  })
})

describe('with a password', () => {
  it('being local opens nothing, and a page of another site writes nothing even with a token', async () => {
    const t = await securedGateway()
    const { port } = await t.listen()
    expect((await send(port, {})).status).toBe(401)
    const { token } = (await (await t.post('/api/login', { password: 'correct horse battery staple' })).json()) as {
      token: string
    }
    const headers = { ...bearer(token), 'content-type': 'application/json' }
    const far = { ...headers, 'x-forwarded-for': '203.0.113.7', host: 'gateway.example' }
    expect((await send(port, { headers: far })).status).toBe(200)
    const cross = await t.post('/api/keys', {}, { ...headers, 'sec-fetch-site': 'cross-site' })
    expect(await errorOf(cross)).toMatchObject({ status: 403, type: 'permission_error' })
    await t.close()
  })
})

describe('GET /api/auth/methods', () => {
  it.each([
    [{}, { multi_tenant: false, idp_enabled: false, password_required: false }],
    [{ MULTI_TENANT: 'true' }, { multi_tenant: true, idp_enabled: false, password_required: true }],
    [
      { MULTI_TENANT: 'true', IDP_CLIENT_ID: 'a', IDP_CLIENT_SECRET: 'b' },
      { multi_tenant: true, idp_enabled: true, password_required: true },
    ],
  ])('tells a page without a session how people sign in with %j', async (env, methods) => {
    const t = await openGateway({ env })
    const response = await t.fetch('/api/auth/methods')
    expect([response.status, await response.json()]).toEqual([200, methods])
    await t.close()
  })
})
