// Every control-plane route there is, without credentials. The list is the generation's own: a
// route that is added is tested here, and one that is public without being listed fails.
import { request as httpRequest } from 'node:http'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { RunningServer } from '../../../adapters/node/server/serve.ts'
import type { TestGateway } from '../../../adapters/testing/test-gateway.ts'
import { wordCode } from '../../support/google-error.ts'
import { bearer, errorOf, makeToken, securedGateway, sessionOf } from './support.ts'

/** Whoever adds to it lets strangers in. */
const PUBLIC = [
  'GET /',
  'GET /api/auth/methods',
  'GET /api/auth/oidc/callback',
  'GET /api/auth/oidc/start',
  'GET /api/hello',
  'GET /dl/**',
  'GET /health/liveliness',
  'GET /health/readiness',
  'GET /healthz',
  'POST /api/login',
]

const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE', 'CONNECTX', 'PROPFIND']

let t: TestGateway
let server: RunningServer
let session: string
beforeAll(async () => {
  t = await securedGateway()
  session = await sessionOf(t)
  server = await t.listen()
})
afterAll(() => t.close())

const concrete = (path: string): string => path.replace(/:\w+/g, '1').replace(/\*+/g, 'x')

/** A request whose target goes out as it stands. */
function raw(path: string, options: { method?: string; headers?: Record<string, string>; body?: string } = {}) {
  return new Promise<{ status: number; allow: string | undefined; body: string; type: string }>((resolve, reject) => {
    const { method = 'GET', headers = {}, body } = options
    const sent = httpRequest({ host: '127.0.0.1', port: server.port, path, method, headers }, (answer) => {
      let text = ''
      answer.setEncoding('utf8')
      answer.on('data', (chunk) => (text += chunk))
      answer.on('end', () =>
        resolve({
          status: answer.statusCode as number,
          allow: answer.headers.allow,
          body: text,
          type: answer.headers['content-type'] ?? '',
        }),
      )
    })
    sent.on('error', reject)
    sent.end(body)
  })
}

describe('without credentials', () => {
  it('only the listed routes answer anything but 401, and that before a body is read', async () => {
    const open: string[] = []
    for (const { method, path } of t.gateway.api) {
      const init = {
        method,
        ...(method === 'GET' ? {} : { body: '{"this is": no JSON', headers: { 'content-type': 'text/plain' } }),
      }
      const response = await t.fetch(concrete(path), init)
      if (response.status !== 401) open.push(`${method} ${path}`)
      else expect((await errorOf(response)).type, path).toBe('authentication_error')
    }
    expect(open.sort()).toEqual(PUBLIC)
  })

  it('the public ones are declared so, and nothing else but /metrics and /api/events is, which judge by themselves', () => {
    const declared = t.gateway.api.filter(({ role }) => role === 'public').map(({ method, path }) => `${method} ${path}`)
    expect(declared.sort()).toEqual([...PUBLIC, 'GET /metrics', 'GET /api/events'].sort())
  })

  it('any bad credential is worth as much as none', async () => {
    const bad = [
      '',
      'Bearer',
      'Bearer ',
      'Bearer x',
      'Basic YWRtaW46YWRtaW4=',
      'Bearer null',
      'Bearer undefined',
      'Token x',
      session,
    ]
    for (const { method, path } of t.gateway.api) {
      if (PUBLIC.includes(`${method} ${path}`)) continue
      for (const authorization of bad)
        expect((await t.fetch(concrete(path), { method, headers: { authorization } })).status, `${path} ${authorization}`).toBe(
          401,
        )
    }
  })

  it('HEAD needs what GET needs, an override header changes nothing, and other methods are 404 or 405 (A5)', async () => {
    const auth = bearer(session)
    for (const { path } of t.gateway.api) {
      const known = t.gateway.api.filter((route) => route.path === path).map(({ method }) => method as string)
      for (const method of METHODS.filter((name) => name !== 'CONNECTX')) {
        const { status, allow } = await raw(concrete(path), { method })
        const label = `${method} ${path}`
        const asked = method === 'HEAD' ? 'GET' : method
        if (PUBLIC.includes(`${asked} ${path}`)) expect(status, label).not.toBe(401)
        else if (known.includes(asked)) expect(status, label).toBe(401)
        else {
          expect([404, 405], label).toContain(status)
          if (status === 405) for (const name of known) expect(allow, label).toContain(name)
        }
      }
    }
    for (const name of ['x-http-method-override', 'x-http-method', 'x-method-override']) {
      const { id } = await makeToken(t, session)
      expect((await raw(`/api/tokens/${id}`, { headers: { [name]: 'DELETE' } })).status).toBe(405)
      expect((await raw('/api/keys', { headers: { [name]: 'POST' } })).status).toBe(401)
      expect((await raw('/api/keys', { headers: { ...auth, [name]: 'POST' } })).status).toBe(200)
      expect((await raw('/api/tokens', { headers: auth })).body).toContain(`"id":${id},`)
    }
  })
})

/** Ways to write a path that some layer may take for another one. */
const TRICKS: ((path: string) => string)[] = [
  (path) => path.toUpperCase(),
  (path) => path.replace('/api', '/API'),
  (path) => path.replace('/api', '/Api'),
  (path) => `/${path}`,
  (path) => `//${path}`,
  (path) => path.replace('/api/', '/api//'),
  (path) => path.replace('/api/', '/api/./'),
  (path) => path.replace('/api/', '/api/x/../'),
  (path) => `/x/..${path}`,
  (path) => `/.${path}`,
  (path) => `/..${path}`,
  (path) => `/v1/..${path}`,
  (path) => `/healthz/..${path}`,
  (path) => `/healthz/%2e%2e${path}`,
  (path) => `/health/liveliness/../..${path}`,
  (path) => path.replace('/api', '/%61pi'),
  (path) => path.replace('/api', '/%2561pi'),
  (path) => path.replace('/api/', '/api%2F'),
  (path) => path.replace('/api/', '/api%2f'),
  (path) => path.replace('/api/', '/api%252F'),
  (path) => path.replace('/api/', '/api\\'),
  (path) => path.replace('/api/', '/api%5C'),
  (path) => `\\${path.slice(1)}`,
  (path) => `${path}/`,
  (path) => `${path}//`,
  (path) => `${path}/.`,
  (path) => `${path}/%2e`,
  (path) => `${path};x`,
  (path) => `${path};jsessionid=1`,
  (path) => path.replace('/api/', '/api;x/'),
  (path) => `${path}%00`,
  (path) => `${path}%00.html`,
  (path) => `${path}%20`,
  (path) => `${path}%0a`,
  (path) => `${path}.json`,
  (path) => `${path}.html`,
  (path) => `${path}?`,
  (path) => `${path}?/healthz`,
  (path) => `${path}#/healthz`,
  (path) => `${path}%23`,
  (path) => `${path}%3F`,
  (path) => `http://127.0.0.1${path}`,
  (path) => `http://127.0.0.1/healthz/..${path}`,
  (path) => `HTTP://LOCALHOST${path}`,
  (path) => path.replace('api', 'ap%C4%B1'),
  (path) => path.replace('api', '%EF%BD%81pi'),
  (path) => path.replace('a', '%c1%a1'),
]
const TARGETS = ['/api/keys', '/api/tokens', '/api/audit', '/api/audit/verify', '/api/auth/me', '/metrics']

describe('a path in disguise (A3)', () => {
  const variants = TARGETS.flatMap((path) => TRICKS.map((trick) => trick(path)))

  it('either names nothing or needs credentials', async () => {
    expect(new Set(variants).size).toBeGreaterThanOrEqual(200)
    const answers = await Promise.all(variants.map(async (path) => ({ path, ...(await raw(path)) })))
    for (const { path, status, body } of answers) {
      expect([400, 401, 404], path).toContain(status)
      expect(body, path).not.toContain('"data"')
    }
  })

  it('that needs credentials names the route it looks like: with them it answers', async () => {
    const answers = await Promise.all(
      variants.map(async (path) => ({
        path,
        without: (await raw(path)).status,
        with: (await raw(path, { headers: bearer(session) })).status,
      })),
    )
    const matched = answers.filter(({ without }) => without === 401)
    expect(matched.length).toBeGreaterThan(30)
    // A query of its own may be wrong for the route; that is said after the credentials were judged.
    for (const { path, with: status } of matched) expect(path.includes('?') ? [200, 400] : [200], path).toContain(status)
    for (const { path, without, with: status } of answers.filter(({ without }) => without !== 401))
      expect(status, path).toBe(without)
  })
})

describe('a path that is not there (A4)', () => {
  const PATHS = [
    '/api',
    '/api/',
    '/api/nothing',
    '/api/keys/1/2/3',
    '/api/keyss',
    '/api/index.html',
    '/api/%ff',
    '/%',
    '/api/../api/none',
    '/v1',
    '/v1/',
    '/v1/nothing',
    '/v1/chat/completions/x',
    '/v1beta/nothing',
    '/v1/%00',
    '/v1/index.html',
  ]
  it.each(PATHS)('%s is 404 unknown_url in JSON, signed in or not, whatever the browser would like', async (path) => {
    const wishes: Record<string, string>[] = [{}, bearer(session), { accept: 'text/html' }]
    for (const headers of wishes)
      for (const method of ['GET', 'POST', 'DELETE']) {
        const { status, type, body } = await raw(path, { method, headers })
        expect(status, method).toBe(404)
        expect(type).toContain('application/json')
        const { error } = JSON.parse(body)
        expect(error).toMatchObject({ type: 'invalid_request_error', param: null })
        expect(wordCode(error)).toBe('unknown_url')
      }
  })
})
