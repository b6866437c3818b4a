// Tests false answers of an issuer, and false requests of a browser or a stranger. The gateway refuses each of them.
import { type JWTPayload, SignJWT } from 'jose'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { openFile } from '../../support/sites.ts'
import { errorOf } from '../sign-in/support.ts'
import { CLIENT, codeFor, type FakeIssuer, fakeIssuer, type SigningKey, signingKey } from './fake-issuer.ts'
import { type OidcWorld, oidcWorld, PAGE, stateIn } from './support.ts'

const NOW = () => Math.floor(Date.now() / 1000)
let key: SigningKey
let other: SigningKey
let issuer: FakeIssuer
let honest: FakeIssuer
let t: OidcWorld
beforeAll(async () => {
  key = await signingKey('k1')
  other = await signingKey('k2')
  issuer = await fakeIssuer(key)
  honest = { ...issuer }
  t = await oidcWorld(issuer, { env: { IDP_ALLOWED_DOMAINS: 'example.com,@Corp.example' } })
})
beforeEach(() => {
  Object.assign(issuer, honest, { asked: [], person: { ...honest.person } })
  t.seen.length = 0
})
afterAll(async () => {
  await t.close()
  await issuer.close()
})

const refused = async (): Promise<{ status: number; code: string | null; message: string }> => {
  const response = await t.signIn()
  expect(response.headers.get('location')).toBeNull()
  return errorOf(response)
}
const unsigned = (claims: JWTPayload): string => {
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')
  return `${part({ alg: 'none' })}.${part(claims)}.`
}

describe('the ID token', () => {
  const lies: [string, (claims: JWTPayload) => JWTPayload][] = [
    ['the nonce of another sign-in', (claims) => ({ ...claims, nonce: 'x'.repeat(43) })],
    ['no nonce', ({ nonce: _, ...claims }) => claims],
    ['another audience', (claims) => ({ ...claims, aud: 'someone-else' })],
    ['no audience', ({ aud: _, ...claims }) => claims],
    ['several audiences and no azp', (claims) => ({ ...claims, aud: [CLIENT.id, 'x'] })],
    ['another azp', (claims) => ({ ...claims, azp: 'someone-else' })],
    ['another issuer', (claims) => ({ ...claims, iss: 'https://evil.example' })],
    ['the issuer with a slash', (claims) => ({ ...claims, iss: `${claims.iss}/` })],
    ['an end long ago', (claims) => ({ ...claims, exp: NOW() - 120, iat: NOW() - 300 })],
    ['no end', ({ exp: _, ...claims }) => claims],
    ['a beginning in the future', (claims) => ({ ...claims, nbf: NOW() + 300 })],
    ['an issue in the future', (claims) => ({ ...claims, iat: NOW() + 300 })],
    ['an issue yesterday', (claims) => ({ ...claims, iat: NOW() - 86_400 })],
    ['no subject', ({ sub: _, ...claims }) => claims],
    ['an empty subject', (claims) => ({ ...claims, sub: '' })],
  ]
  it.each(lies)('with %s is refused', async (_, lie) => {
    issuer.lies = lie
    expect(await refused()).toMatchObject({ status: 401, code: 'invalid_id_token' })
    expect(t.seen).toEqual([])
  })

  const truths: [string, (claims: JWTPayload) => JWTPayload][] = [
    ['an end 30 s ago, because clocks differ', (claims) => ({ ...claims, exp: NOW() - 30 })],
    ['several audiences and our azp', (claims) => ({ ...claims, aud: ['x', CLIENT.id], azp: CLIENT.id })],
  ]
  it.each(truths)('with %s is accepted', async (_, truth) => {
    issuer.lies = truth
    expect((await t.signIn()).status).toBe(302)
  })

  const signatures: [string, (claims: JWTPayload) => Promise<string>][] = [
    ['alg none', async (claims) => unsigned(claims)],
    ['HS256 with the client secret', (claims) => hmac(claims, CLIENT.secret)],
    ['HS256 with the public key', (claims) => hmac(claims, JSON.stringify(key.publicJwk))],
    ['a key that is not published', (claims) => signed(claims, other, 'k1')],
    ['an unknown key', (claims) => signed(claims, other, 'k9')],
    ['nothing that is a token', async () => 'x.y.z'],
    ['a token of a megabyte', async () => 'x'.repeat(400_000)],
    ['an algorithm that is not allowed', async (claims) => signed(claims, await signingKey('k1', 'RS512'), 'k1')],
  ]
  it.each(signatures)('signed with %s is refused', async (_, sign) => {
    issuer.sign = sign
    expect(await refused()).toMatchObject({ status: 401, code: 'invalid_id_token' })
  })

  it('may be signed with ES256', async () => {
    const elliptic = await signingKey('e1', 'ES256')
    Object.assign(issuer, { signs: elliptic, publishes: [elliptic] })
    await withFreshKeys(async (fresh) => expect((await fresh.signIn()).status).toBe(302))
  })

  it('without a key id is tried with every key', async () => {
    const nameless = ({ publicJwk, ...rest }: SigningKey): SigningKey => ({
      ...rest,
      publicJwk: { ...publicJwk, kid: undefined },
    })
    issuer.publishes = [nameless(other), nameless(key)]
    issuer.sign = (claims) => new SignJWT(claims).setProtectedHeader({ alg: 'RS256' }).sign(key.privateKey)
    await withFreshKeys(async (fresh) => expect((await fresh.signIn()).status).toBe(302))
  })
})

/** A gateway that has not fetched keys. */
async function withFreshKeys(use: (fresh: OidcWorld) => Promise<void>): Promise<void> {
  const fresh = await oidcWorld(issuer)
  await use(fresh).finally(() => fresh.close())
}

const hmac = (claims: JWTPayload, secret: string) =>
  new SignJWT(claims).setProtectedHeader({ alg: 'HS256', kid: 'k1' }).sign(new TextEncoder().encode(secret))
const signed = (claims: JWTPayload, { alg, privateKey }: SigningKey, kid: string) =>
  new SignJWT(claims).setProtectedHeader({ alg, kid }).sign(privateKey)

describe('the person', () => {
  it.each([
    ['eve@evil.example', 403, 'domain_not_allowed'],
    ['eve@example.com@evil.example', 403, 'domain_not_allowed'],
    ['eve@sub.example.com', 403, 'domain_not_allowed'],
    ['eve@notexample.com', 403, 'domain_not_allowed'],
    ['eve@evil.example@CORP.example', 302, null],
    ['Ada@EXAMPLE.com', 302, null],
    ['', 403, 'email_missing'],
    ['example.com', 403, 'email_missing'],
    ['@example.com', 403, 'email_missing'],
    ['a b@example.com', 403, 'email_missing'],
    ['a\u202eb@example.com', 403, 'email_missing'],
    [7, 403, 'email_missing'],
    [undefined, 403, 'email_missing'],
  ])('with the address %j gets %i', async (email, status, code) => {
    issuer.person.email = email
    const response = await t.signIn()
    expect(response.status).toBe(status)
    if (code !== null) expect(await errorOf(response)).toMatchObject({ code, type: 'permission_error' })
  })

  it.each([false, 'false', 0, null, 'yes'])('whose address is verified: %j, is refused', async (verified) => {
    issuer.person.email_verified = verified
    expect(await refused()).toMatchObject({ status: 403, code: 'email_unverified' })
  })

  it('may come from an issuer that says nothing about it', async () => {
    issuer.person.email_verified = undefined
    expect((await t.signIn()).status).toBe(302)
  })
})

describe('the way back', () => {
  const INVALID = { status: 400, code: 'invalid_state' }

  it('works once, with its own cookie and state, within ten minutes', async () => {
    const first = await t.start()
    const second = await t.start()
    const answer = { code: codeFor(first.location), state: stateIn(first.location) }
    expect(await errorOf(await t.callback(answer, '')), 'no cookie').toMatchObject(INVALID)
    expect(await errorOf(await t.callback(answer, second.cookie)), 'the cookie of another').toMatchObject(INVALID)
    const swapped = first.cookie.replace(/=.*/, second.cookie.slice(second.cookie.indexOf('=')))
    expect(await errorOf(await t.callback(answer, swapped)), 'renamed').toMatchObject(INVALID)
    expect(await errorOf(await t.callback({ code: 'x' }, first.cookie)), 'no state').toMatchObject(INVALID)
    for (const state of ['', 'x', 'x'.repeat(43), `${answer.state}\r\nx: y`])
      expect(await errorOf(await t.callback({ ...answer, state }, first.cookie)), state).toMatchObject(INVALID)
    expect((await t.callback(answer, first.cookie)).status).toBe(302)
    expect(await errorOf(await t.callback(answer, first.cookie)), 'again').toMatchObject(INVALID)
    expect(issuer.asked.filter(({ path }) => path === '/token')).toHaveLength(1)
  })

  it('refuses a code that another sign-in used', async () => {
    const first = await t.start()
    const code = codeFor(first.location)
    expect((await t.callback({ code, state: stateIn(first.location) }, first.cookie)).status).toBe(302)
    const second = await t.start()
    const again = await t.callback({ code, state: stateIn(second.location) }, second.cookie)
    expect(await errorOf(again)).toMatchObject({ status: 401, code: 'code_refused' })
  })

  it('refuses a code of another browser: its challenge does not fit', async () => {
    const victim = await t.start()
    const attacker = await t.start()
    const injected = await t.callback({ code: codeFor(attacker.location), state: stateIn(victim.location) }, victim.cookie)
    expect(await errorOf(injected)).toMatchObject({ status: 401, code: 'code_refused' })
  })

  it('refuses an answer that names another issuer', async () => {
    const { location, cookie } = await t.start()
    const answer = { code: codeFor(location), state: stateIn(location), iss: 'https://evil.example' }
    expect(await errorOf(await t.callback(answer, cookie))).toMatchObject({ status: 502, code: 'issuer_error' })
  })

  it.each([
    ['access_denied', 403, 'access_denied'],
    ['login_required', 502, 'issuer_error'],
    ['temporarily_unavailable', 503, 'issuer_unavailable'],
    ['<script>alert(1)</script>\u202e', 502, 'issuer_error'],
  ])('shows the error %s of the issuer safely', async (error, status, code) => {
    const { location, cookie } = await t.start()
    const said = await errorOf(await t.callback({ error, state: stateIn(location) }, cookie))
    expect(said).toMatchObject({ status, code })
    expect(said.message).not.toMatch(/[<>\u202e]/)
    const again = await t.start()
    const page = await t.callback({ error, state: stateIn(again.location) }, again.cookie, PAGE)
    expect(page.headers.get('location')).toBe(`https://llm.example.com/#error=${code}`)
  })

  it('of a browser without its cookie leads to the sign-in page', async () => {
    const page = await t.callback({ code: 'x', state: 'y' }, '', PAGE)
    expect([page.status, page.headers.get('location')]).toEqual([302, 'https://llm.example.com/#error=invalid_state'])
  })
})

describe('two replicas', () => {
  it('finish each other’s sign-ins, and each one only once', async () => {
    const site = await openFile()
    const [a, b] = await Promise.all([oidcWorld(issuer, { env: site.env }), oidcWorld(issuer, { env: site.env })])
    const { location, cookie } = await a.start()
    const answer = { code: codeFor(location), state: stateIn(location) }
    const both = await Promise.all([a, b, a, b].map((one) => one.callback(answer, cookie)))
    expect(both.map(({ status }) => status).sort()).toEqual([302, 400, 400, 400])
    await Promise.all([a.close(), b.close()])
    await site.end()
  })
})
