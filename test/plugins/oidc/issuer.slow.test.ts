// An issuer that is down, slow, huge, moved, or changes its keys.
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { recordingLog } from '../../support/recording-log.ts'
import { errorOf, type JumpingClock, jumpingClock } from '../sign-in/support.ts'
import { CLIENT, type FakeIssuer, fakeIssuer, type SigningKey, signingKey } from './fake-issuer.ts'
import { type OidcWorld, oidcWorld, PAGE } from './support.ts'

const DOWN = { status: 503, type: 'api_error', code: 'issuer_unavailable' }
let key: SigningKey
let other: SigningKey
let issuer: FakeIssuer
let t: OidcWorld
let clock: JumpingClock
beforeAll(async () => {
  key = await signingKey('k1')
  other = await signingKey('k2')
})
beforeEach(async () => {
  clock = jumpingClock()
  issuer = await fakeIssuer(key)
  issuer.now = () => clock.now()
  t = await oidcWorld(issuer, { ports: { clock } })
})
afterEach(async () => {
  await t.close()
  await issuer.close()
})

/** The answer is given. */
const over = (_: unknown): boolean => true
const asked = (path: string): number => issuer.asked.filter((one) => one.path === path).length
const DISCOVERY = '/.well-known/openid-configuration'

describe('the configuration', () => {
  it('is fetched once for many, and again after an hour', async () => {
    await Promise.all(Array.from({ length: 20 }, () => t.start()))
    expect(asked(DISCOVERY)).toBe(1)
    await clock.advance(3_600_000)
    await t.start()
    expect(asked(DISCOVERY)).toBe(2)
  })

  it('that cannot be fetched is a 503 that says so, to a browser a code', async () => {
    issuer.intercept = (_, response) => over(response.destroy())
    expect(await errorOf((await t.start()).response)).toMatchObject({
      ...DOWN,
      message: expect.stringContaining('identity provider cannot be reached'),
    })
    const page = (await t.start('/keys', PAGE)).response
    expect(page.headers.get('location')).toBe('https://llm.example.com/#error=issuer_unavailable')
    issuer.intercept = () => false
    expect((await t.start()).response.status).toBe(302)
  })

  it('that is known is used while the issuer is down', async () => {
    await t.start()
    issuer.intercept = (_, response) => over(response.destroy())
    await clock.advance(2 * 3_600_000)
    expect((await t.start()).response.status).toBe(302)
    await clock.advance(24 * 3_600_000)
    expect(await errorOf((await t.start()).response)).toMatchObject(DOWN)
  })

  it.each([
    ['of another issuer', { issuer: 'https://evil.example' }],
    ['without a token endpoint', { token_endpoint: undefined }],
    ['with an address that is none', { jwks_uri: 'file:///etc/passwd' }],
  ])('%s is refused', async (_, discovery) => {
    issuer.discovery = discovery
    expect(await errorOf((await t.start()).response)).toMatchObject(DOWN)
  })

  it.each([
    ['a redirect loop', 302, ''],
    ['an error', 500, '{}'],
    ['something else', 200, '<html>'],
    ['two megabytes', 200, `"${'x'.repeat(2_000_000)}"`],
  ])('that is %s is refused', async (_, status, body) => {
    issuer.intercept = (_path, response) => {
      response.writeHead(status, { location: `${issuer.url}${DISCOVERY}` }).end(body)
      return true
    }
    expect(await errorOf((await t.start()).response)).toMatchObject(DOWN)
    expect(asked(DISCOVERY)).toBe(1)
  })

  it('that never ends is given up after ten seconds', async () => {
    issuer.intercept = (_, response) => {
      response.writeHead(200).write('{')
      return true
    }
    const waiting = t.start()
    while (issuer.asked.length === 0) await new Promise((resolve) => setTimeout(resolve, 2))
    await clock.advance(10_000)
    expect(await errorOf((await waiting).response)).toMatchObject(DOWN)
  })
})

describe('keys', () => {
  it('that change in flight are fetched again, at most every 30 s', async () => {
    expect((await t.signIn()).status).toBe(302)
    expect((await t.signIn()).status).toBe(302)
    expect(asked('/keys')).toBe(1)
    Object.assign(issuer, { signs: other, publishes: [key, other] })
    expect((await t.signIn()).status).toBe(302)
    expect(asked('/keys')).toBe(2)
    issuer.signs = await signingKey('k3')
    for (let i = 0; i < 5; i++) expect((await t.signIn()).status).toBe(401)
    expect(asked('/keys')).toBe(2)
    await clock.advance(30_000)
    issuer.publishes = [issuer.signs]
    expect((await t.signIn()).status).toBe(302)
    expect(asked('/keys')).toBe(3)
  })

  it('that are withdrawn are refused after ten minutes', async () => {
    await t.signIn()
    issuer.publishes = [other]
    expect((await t.signIn()).status).toBe(302)
    await clock.advance(600_000)
    expect((await t.signIn()).status).toBe(401)
  })

  it('that cannot be fetched are a 503', async () => {
    issuer.intercept = (path, response) => path === '/keys' && over(response.writeHead(503).end())
    expect(await errorOf(await t.signIn())).toMatchObject(DOWN)
  })
})

describe('the exchange', () => {
  it.each([
    [401, { error: 'invalid_client' }, 503, 'client_refused'],
    [400, { error: 'invalid_grant' }, 401, 'code_refused'],
    [400, 'x', 503, 'client_refused'],
    [200, {}, 503, 'issuer_unavailable'],
    [200, { id_token: 7 }, 503, 'issuer_unavailable'],
    [302, {}, 503, 'issuer_unavailable'],
  ])('that answers %i %j is refused', async (said, body, status, code) => {
    issuer.intercept = (path, response) =>
      path === '/token' && over(response.writeHead(said, { location: `${issuer.url}/token` }).end(JSON.stringify(body)))
    expect(await errorOf(await t.signIn())).toMatchObject({ status, code })
    expect(asked('/token')).toBe(1)
  })
})

describe('secrets', () => {
  it('are neither in logs nor in errors', async () => {
    const log = recordingLog()
    const quiet = await oidcWorld(issuer, { ports: { clock, log } })
    const shown: string[] = []
    issuer.sign = async () => 'eyJhbGciOiJSUzI1NiJ9.theClaimsOfAPerson.x'
    shown.push(await (await quiet.signIn()).text())
    issuer.intercept = (path, response) => path === '/token' && over(response.destroy())
    shown.push(await (await quiet.signIn()).text())
    await quiet.close()
    const all = shown.join() + JSON.stringify(log.lines)
    expect(log.lines.filter(({ message }) => message === 'oidc.failed')).toHaveLength(2)
    for (const secret of [CLIENT.secret, 'theClaimsOfAPerson', 'code_verifier', issuer.url]) expect(all).not.toContain(secret)
  })
})

describe('at the start', () => {
  it.each([
    ['http://idp.example', { PROFILE: 'cloud' }],
    ['http://169.254.169.254/', {}],
  ])('refuses the issuer %s', async (url, env) => {
    await expect(oidcWorld({ ...issuer, url }, { env })).rejects.toThrow('GATEWAY_IDP_ISSUER')
  })
})
