// POST /api/login, /api/auth/logout, /api/auth/me.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { type FakeClock, fakeClock } from '../../../adapters/testing/fake-clock.ts'
import type { TestGateway } from '../../../adapters/testing/test-gateway.ts'
import { auditOf, bearer, errorOf, openGateway, PASSWORD, securedGateway, sessionOf } from './support.ts'

const WRONG = { status: 401, type: 'authentication_error', code: 'invalid_credentials' }
const THROTTLED = { status: 429, type: 'rate_limit_error', code: 'rate_limited' }

describe('with a password', () => {
  let t: TestGateway
  let clock: FakeClock
  beforeAll(async () => {
    clock = fakeClock(Date.UTC(2026, 0, 1, 0, 0, 15))
    t = await securedGateway({ ports: { clock } })
  })
  afterAll(() => t.close())
  beforeEach(() => clock.advance('1m'))
  const login = (password: unknown, headers: Record<string, string> = {}) => t.post('/api/login', { password }, headers)

  it('answers the right one with a session token of 12 hours', async () => {
    const response = await login(PASSWORD)
    expect(response.status).toBe(200)
    expect(response.headers.get('cache-control')).toBe('no-store')
    expect(response.headers.get('set-cookie')).toBeNull()
    const body = (await response.json()) as { token: string }
    expect(body).toEqual({
      token: expect.stringMatching(/^eyJ/),
      token_type: 'Bearer',
      expires_in: 43_200,
      expires_at: new Date(clock.now() + 43_200_000).toISOString(),
    })
    const [header, claims] = body.token
      .split('.')
      .slice(0, 2)
      .map((part) => JSON.parse(Buffer.from(part, 'base64url').toString()))
    expect(header).toEqual({ alg: 'HS256', typ: 'JWT' })
    expect(claims).toMatchObject({ iss: 'gateway', sub: 'local', org: null, role: 'owner', typ: 'session' })
    expect(claims.pwv).toMatch(/^[0-9a-f]{8}$/)
    expect((await t.fetch('/api/keys', { headers: bearer(body.token) })).status).toBe(200)
  })

  it('answers a wrong one with 401 and a missing one with 400', async () => {
    const wrong = await login('nope')
    expect(wrong.headers.get('www-authenticate')).toBe('Bearer')
    expect(await errorOf(wrong)).toMatchObject(WRONG)
    expect(await errorOf(await t.post('/api/login', {}))).toMatchObject({ status: 400, param: 'password' })
    for (const bad of ['', 4, null, ['x'], 'x'.repeat(1025)])
      expect(await errorOf(await login(bad)), String(bad).slice(0, 9)).toMatchObject({ status: 400, param: 'password' })
    expect(await errorOf(await t.post('/api/login', { password: 'x', user: 'y' }))).toMatchObject({ status: 400, param: 'user' })
    expect(await errorOf(await t.post('/api/login', '{"password":'))).toMatchObject({ status: 400 })
  })

  it('after five wrong ones refuses even the right one, until the minute of the wall clock ends', async () => {
    for (let i = 0; i < 5; i++) expect((await login('nope')).status).toBe(401)
    const refused = await login(PASSWORD)
    expect(refused.headers.get('retry-after')).toBe('45')
    expect(await errorOf(refused)).toMatchObject(THROTTLED)
    await clock.advance(44_999)
    expect((await login(PASSWORD)).status).toBe(429)
    await clock.advance(1)
    expect((await login(PASSWORD)).status).toBe(200)
  })

  it('counts failures only, and success clears none', async () => {
    for (let i = 0; i < 12; i++) expect((await login(PASSWORD)).status).toBe(200)
    for (let i = 0; i < 4; i++) expect((await login('nope')).status).toBe(401)
    expect((await login(PASSWORD)).status).toBe(200)
    expect((await login('nope')).status).toBe(401)
    expect((await login(PASSWORD)).status).toBe(429)
  })

  it('is not fooled by a thousand forwarded addresses (C3)', async () => {
    const statuses: number[] = []
    for (let i = 0; i < 1000; i++)
      statuses.push((await login('nope', { 'x-forwarded-for': `198.51.${i >> 8}.${i & 255}` })).status)
    expect(statuses.filter((status) => status === 401)).toHaveLength(5)
    expect(statuses.filter((status) => status === 429)).toHaveLength(995)
  })

  it('gives as few tries to two hundred at once as to two hundred in a row (D11)', async () => {
    const statuses = await Promise.all(Array.from({ length: 200 }, async () => (await login('nope')).status))
    expect(statuses.filter((status) => status === 401)).toHaveLength(5)
    expect(statuses.filter((status) => status === 429)).toHaveLength(195)
  })

  it('lets in everybody who comes at once with the right password', async () => {
    const statuses = await Promise.all(Array.from({ length: 30 }, async () => (await login(PASSWORD)).status))
    expect(statuses.every((status) => status === 200)).toBe(true)
  })

  it('writes down who came in and who did not, without the password, and a flood once a minute', async () => {
    const session = await sessionOf(t)
    await clock.advance('1m')
    for (let i = 0; i < 9; i++) await login(`guess-${i}`, { 'x-forwarded-for': 'spoofed, 203.0.113.7' })
    await clock.advance('1m')
    await login(PASSWORD)
    const entries = (await auditOf(t, session)).slice(0, 7)
    expect(entries.map(({ action, details }) => [action, details.reason ?? details.method])).toEqual([
      ['user.login', 'password'],
      ['user.login_failed', 'throttled'],
      ...Array(5).fill(['user.login_failed', 'wrong_password']),
    ])
    expect(entries[1]).toMatchObject({ actor: 'anonymous', target: 'local', ip: '127.0.0.1' })
    expect(entries[1]?.details.forwarded_for).toBe('203.0.113.7')
    const all = JSON.stringify(await auditOf(t, session))
    expect(all).not.toContain('guess-')
    expect(all).not.toContain(PASSWORD)
  })

  it('says who is signed in', async () => {
    const session = await sessionOf(t)
    const me = await (await t.fetch('/api/auth/me', { headers: bearer(session) })).json()
    expect(me).toEqual({
      user: null,
      org: null,
      orgs: [],
      role: 'system',
      read_only: false,
      auth: 'password',
      multi_tenant: false,
      idp_enabled: false,
    })
    expect(await errorOf(await t.fetch('/api/auth/me'))).toMatchObject(WRONG)
  })

  it('takes the password from no other place than the body', async () => {
    const bare = await t.fetch(`/api/login?password=${encodeURIComponent(PASSWORD)}`, { method: 'POST' })
    expect(await errorOf(bare)).toMatchObject({ status: 400, param: 'password' })
    expect((await t.fetch('/api/login')).status).toBe(405)
  })
})

describe('without a password', () => {
  let t: TestGateway
  beforeAll(async () => {
    t = await openGateway()
  })
  afterAll(() => t.close())

  it('gives local clients a token all the same, and says that none was needed', async () => {
    for (const body of [{}, { password: 'anything' }]) {
      const answer = (await (await t.post('/api/login', body)).json()) as { token: string }
      expect(answer).toMatchObject({ token_type: 'Bearer', expires_in: 43_200, password_required: false })
      const me = await (await t.fetch('/api/auth/me', { headers: bearer(answer.token) })).json()
      expect(me).toMatchObject({ auth: 'open', role: 'system' })
    }
  })

  it('gives others none', async () => {
    const init = { method: 'POST', body: '{}', headers: { 'content-type': 'application/json' } }
    for (const local of [false, null]) {
      const response = await t.gateway.fetch(new Request('http://gateway.test/api/login', init), {
        address: '203.0.113.9',
        local,
      })
      expect(await errorOf(response)).toMatchObject(WRONG)
    }
  })

  it('knows nobody by a credential that is wrong, local or not', async () => {
    expect((await t.fetch('/api/auth/me')).status).toBe(200)
    for (const credential of ['nonsense', 'gw_abc', `gmt_${'a'.repeat(43)}`, 'a.b.c'])
      expect((await t.fetch('/api/auth/me', { headers: bearer(credential) })).status, credential).toBe(401)
  })
})

describe('with tenants', () => {
  it('refuses the single password and points to the other login', async () => {
    const t = await securedGateway({ env: { MULTI_TENANT: 'true' } })
    const { status, message } = await errorOf(await t.post('/api/login', { password: PASSWORD }))
    expect(status).toBe(400)
    expect(message).toContain('/api/auth/login')
    await t.close()
  })

  it('is never open, whatever sits at the machine', async () => {
    const t = await openGateway({ env: { MULTI_TENANT: 'true' } })
    expect((await t.fetch('/api/keys')).status).toBe(401)
    expect((await t.fetch('/api/auth/me')).status).toBe(401)
    await t.close()
  })

  it('with an identity provider refuses passwords altogether', async () => {
    const t = await openGateway({ env: { MULTI_TENANT: 'true', IDP_CLIENT_ID: 'a', IDP_CLIENT_SECRET: 'b' } })
    expect(await errorOf(await t.post('/api/login', { password: 'x' }))).toMatchObject({ status: 403, type: 'permission_error' })
    await t.close()
  })
})
