// Sign-up and login over the control plane.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { TestGateway } from '../../../adapters/testing/test-gateway.ts'
import { as, bearer, errorOf, logIn, openTenants, PASSWORD, signUp } from './support.ts'

describe('with tenants', () => {
  let t: TestGateway
  beforeAll(async () => {
    t = await openTenants({ env: { ADMIN_EMAILS: 'Root@Corp.example' } })
  })
  afterAll(() => t.close())

  it('a sign-up makes an account, an organization of its own and a session', async () => {
    const made = await signUp(t, '  Ann@Corp.Example ', { name: 'Ann', org_name: 'Anvils' })
    expect(made).toMatchObject({
      token: expect.stringMatching(/^eyJ/),
      user: { email: 'ann@corp.example', name: 'Ann', email_verified: false, role: 'user' },
      org: { name: 'Anvils' },
      role: 'owner',
    })
    const me = await as(t, made)('GET', '/api/auth/me')
    expect(me.body).toMatchObject({
      user: { id: made.user.id, email: 'ann@corp.example' },
      org: made.org,
      role: 'owner',
      orgs: [{ ...made.org, role: 'owner' }],
      auth: 'password',
      multi_tenant: true,
    })
  })

  it('an address that is taken is 409, in any spelling', async () => {
    await signUp(t, 'bob@corp.example')
    const again = await t.post('/api/auth/signup', { email: 'BOB@corp.example', password: PASSWORD })
    expect(await errorOf(again)).toMatchObject({ status: 409, code: 'already_exists' })
  })

  it.each([
    [{ email: 'no address', password: PASSWORD }, 'email'],
    [{ email: 'x@y.example', password: 'seven77' }, 'password'],
    [{ email: 'x@y.example', password: 'x'.repeat(129) }, 'password'],
    [{ password: PASSWORD }, 'email'],
  ])('refuses %j', async (body, param) => {
    expect(await errorOf(await t.post('/api/auth/signup', body))).toMatchObject({ status: 400, param })
  })

  it('login answers as sign-up does; a wrong password and an unknown address look the same', async () => {
    const made = await signUp(t, 'cleo@corp.example')
    expect(await logIn(t, 'CLEO@corp.example')).toMatchObject({ user: made.user, org: made.org, role: 'owner' })
    const wrong = await errorOf(await t.post('/api/auth/login', { email: 'cleo@corp.example', password: 'wrong' }))
    const unknown = await errorOf(await t.post('/api/auth/login', { email: 'nix@corp.example', password: 'wrong' }))
    expect(wrong).toMatchObject({ status: 401, type: 'authentication_error', code: 'invalid_credentials' })
    expect(unknown).toEqual(wrong)
  })

  it('an address of GATEWAY_ADMIN_EMAILS is a system administrator', async () => {
    const root = await signUp(t, 'root@corp.example')
    expect(root).toMatchObject({ user: { role: 'system_admin' }, role: 'system' })
    expect((await as(t, root)('GET', '/api/config/plan')).status).toBe(200)
  })

  it('a sixth failure in a minute is throttled, also with the right password', async () => {
    await signUp(t, 'dan@corp.example')
    const login = (password: string, i: number) =>
      t.post('/api/auth/login', { email: 'dan@corp.example', password }, { 'x-real-ip': `203.0.113.${i}` })
    const statuses: number[] = []
    for (let i = 1; i <= 5; i++) statuses.push((await login('wrong', i)).status)
    expect(statuses).toEqual([401, 401, 401, 401, 401])
    const refused = await login(PASSWORD, 9)
    expect(refused.headers.get('retry-after')).toMatch(/^\d+$/)
    expect(await errorOf(refused)).toMatchObject({ status: 429, code: 'rate_limited' })
  })

  it('the data plane needs a key, and a key works', async () => {
    const body = { model: 'chat/m', messages: [{ role: 'user', content: 'hi' }] }
    expect(await errorOf(await t.post('/v1/chat/completions', body))).toMatchObject({ status: 401, code: 'invalid_api_key' })
    const eve = await signUp(t, 'eve@corp.example')
    const { key } = (await as(t, eve)<{ key: string }>('POST', '/api/keys', { label: 'k' })).body
    expect((await t.fetch('/v1/models', { headers: bearer(key) })).status).toBe(200)
  })
})

describe('without tenants', () => {
  it('the routes do not exist', async () => {
    const { createTestGateway } = await import('../../../adapters/testing/test-gateway.ts')
    const t = await createTestGateway()
    for (const path of ['/api/auth/signup', '/api/auth/login', '/api/auth/forgot'])
      expect((await t.post(path, {})).status, path).toBe(404)
    await t.close()
  })
})
