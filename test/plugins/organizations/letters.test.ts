// Verification and new passwords: links work once, for their time, and the answers tell a stranger nothing.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { TestGateway } from '../../../adapters/testing/test-gateway.ts'
import { type JumpingClock, jumpingClock } from '../sign-in/support.ts'
import { as, errorOf, logIn, openTenants, PASSWORD, postbox, signUp } from './support.ts'

const HOUR = 3_600_000
let t: TestGateway
let clock: JumpingClock
const post = postbox()
beforeAll(async () => {
  clock = jumpingClock()
  t = await openTenants({ ports: { clock }, plugins: [post.plugin], env: { ADMIN_EMAILS: 'boss@corp.example' } })
})
afterAll(() => t.close())
beforeEach(() => clock.jump(60_000))

const badToken = { status: 400, param: 'token', code: 'invalid_token' }
const verify = (token: string) => t.post('/api/auth/verify', { token })

describe('the verification letter', () => {
  it('verifies the address once', async () => {
    const made = await signUp(t, 'ann@corp.example')
    const { token } = await post.letter('verify', 'ann@corp.example')
    expect(token).toMatch(/^[0-9A-Za-z]{43}$/)
    expect(await (await verify(token)).json()).toEqual({ verified: true })
    expect((await as(t, made)('GET', '/api/auth/me')).body).toMatchObject({ user: { email_verified: true } })
    expect(await errorOf(await verify(token))).toMatchObject(badToken)
  })

  it('is a page of the dashboard; a GET sends browsers there and uses up nothing', async () => {
    await signUp(t, 'bea@corp.example')
    const { token } = await post.letter('verify', 'bea@corp.example')
    const visit = () => t.fetch(`/api/auth/verify?token=${token}`, { headers: { accept: 'text/html,*/*' } })
    const link = `https://gateway.test/verify#token=${token}`
    const first = await visit()
    expect([first.status, first.headers.get('location')]).toEqual([302, link])
    const looked = await t.fetch(`/api/auth/verify?token=${token}`)
    expect(await looked.json()).toEqual({ verified: false, valid: true })
    // A program that follows links has used up nothing.
    expect(await (await verify(token)).json()).toEqual({ verified: true })
    expect(await errorOf(await t.fetch(`/api/auth/verify?token=${token}`))).toMatchObject(badToken)
    expect((await visit()).headers.get('location')).toBe(link)
  })

  it('is good for 24 hours, and a newer one replaces it', async () => {
    await signUp(t, 'cid@corp.example')
    const old = await post.letter('verify', 'cid@corp.example')
    await t.post('/api/auth/verify/resend', { email: 'cid@corp.example' })
    const newer = await post.letter('verify', 'cid@corp.example')
    expect(await errorOf(await verify(old.token))).toMatchObject(badToken)
    clock.jump(24 * HOUR)
    expect(await errorOf(await verify(newer.token))).toMatchObject(badToken)
  })

  it('makes an address of GATEWAY_ADMIN_EMAILS an administrator, and not before', async () => {
    const boss = await signUp(t, 'boss@corp.example')
    expect(boss.role).toBe('owner')
    expect((await as(t, boss)('GET', '/api/orgs')).status).toBe(403)
    await verify((await post.letter('verify', 'boss@corp.example')).token)
    expect((await as(t, boss)('GET', '/api/orgs')).status).toBe(200)
  })
})

describe('a new password', () => {
  const reset = (token: string, password = 'another password') => t.post('/api/auth/reset', { token, password })

  it('ends every session, verifies the address, and the token works once', async () => {
    const made = await signUp(t, 'dan@corp.example')
    expect(await (await t.post('/api/auth/forgot', { email: 'DAN@corp.example' })).json()).toEqual({ sent: true })
    const { token } = await post.letter('reset', 'dan@corp.example')
    expect(await errorOf(await t.post('/api/auth/reset', { token, password: 'short' }))).toMatchObject({ param: 'password' })
    expect(await (await reset(token)).json()).toEqual({ reset: true })
    expect((await as(t, made)('GET', '/api/auth/me')).status).toBe(401)
    expect(await errorOf(await reset(token))).toMatchObject(badToken)
    expect((await logIn(t, 'dan@corp.example', 'another password')).user.email_verified).toBe(true)
    expect((await t.post('/api/auth/login', { email: 'dan@corp.example', password: PASSWORD })).status).toBe(401)
  })

  it('token is good for one hour, and for nothing else', async () => {
    await signUp(t, 'eli@corp.example')
    await t.post('/api/auth/forgot', { email: 'eli@corp.example' })
    const { token } = await post.letter('reset', 'eli@corp.example')
    expect(await errorOf(await verify(token))).toMatchObject(badToken)
    clock.jump(HOUR)
    expect(await errorOf(await reset(token))).toMatchObject(badToken)
    expect(await errorOf(await reset('x'.repeat(43)))).toMatchObject(badToken)
  })

  it('the letter is sent for accounts only, and the answer does not show which', async () => {
    for (const path of ['/api/auth/forgot', '/api/auth/verify/resend']) {
      const known = await t.post(path, { email: 'eli@corp.example' })
      const unknown = await t.post(path, { email: 'nobody@corp.example' })
      expect([unknown.status, await unknown.text()]).toEqual([known.status, await known.text()])
    }
    await post.letter('verify', 'eli@corp.example')
    expect(post.sent.filter(({ to }) => to === 'nobody@corp.example')).toEqual([])
  })

  it('is not a way to flood an inbox', async () => {
    await signUp(t, 'flo@corp.example')
    for (let i = 0; i < 12; i++) expect((await t.post('/api/auth/forgot', { email: 'flo@corp.example' })).status).toBe(200)
    for (let i = 0; i < 5; i++) await post.letter('reset', 'flo@corp.example')
    expect(post.sent.filter(({ to, kind }) => to === 'flo@corp.example' && kind === 'reset')).toEqual([])
  })
})

describe('with the identity provider', () => {
  it('password routes are 403, before anything of the caller is looked at', async () => {
    const idp = await openTenants({ env: { IDP_CLIENT_ID: 'a', IDP_CLIENT_SECRET: 'b' } })
    const bodies: [string, object][] = [
      ['signup', { email: 'x@y.example', password: PASSWORD }],
      ['login', { email: 'x@y.example', password: PASSWORD }],
      ['forgot', { email: 'x@y.example' }],
      ['reset', { token: 'x', password: PASSWORD }],
    ]
    for (const [route, body] of bodies)
      expect(await errorOf(await idp.post(`/api/auth/${route}`, body)), route).toMatchObject({
        status: 403,
        type: 'permission_error',
        message: 'password login is disabled',
      })
    expect((await idp.post('/api/login', { password: 'x' })).status).toBe(403)
    await idp.close()
  })
})
