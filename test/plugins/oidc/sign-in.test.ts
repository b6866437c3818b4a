// The way to the identity provider and back, when everything is right.
import { afterEach, beforeAll, describe, expect, it } from 'vitest'
import { recordingLog } from '../../support/recording-log.ts'
import { auditOf, bearer, errorOf } from '../sign-in/support.ts'
import { CLIENT, codeFor, type FakeIssuer, fakeIssuer, type SigningKey, signingKey } from './fake-issuer.ts'
import { type OidcWorld, oidcWorld, PAGE, stateIn } from './support.ts'

let key: SigningKey
let issuer: FakeIssuer
let t: OidcWorld | undefined
beforeAll(async () => {
  key = await signingKey('k1')
})
afterEach(async () => {
  await t?.close()
  await issuer?.close()
  t = undefined
})

async function world(options: Parameters<typeof oidcWorld>[1] = {}): Promise<OidcWorld> {
  issuer = await fakeIssuer(key)
  t = await oidcWorld(issuer, options)
  return t
}

const FOREIGN = [
  '//evil.example',
  '/\\evil.example',
  '\\\\evil.example',
  'https://evil.example',
  'javascript:alert(1)',
  'keys',
  '',
  '/%2f/evil.example',
  '/%2F%2Fevil.example',
  '/%5cevil.example',
  '/%252fevil.example',
  '/..//evil.example',
  '/./%2fevil',
  '/\tevil',
  '/\t/evil.example',
  '/a\r\nset-cookie: x=1',
  '/a b',
  '/ü',
  '/a#token=x',
  '/%',
  '/%00',
  '/plugin-pages/x/index.html',
  '/%70lugin-pages/x/index.html',
  '/a/../plugin-pages/x',
  '/api/keys',
  `/${'a'.repeat(1024)}`,
]

describe('start', () => {
  it('sends the browser to the issuer with a code challenge, a state and a nonce, and keeps them in a cookie', async () => {
    const t = await world()
    const { response, location } = await t.start('/keys?x=1')
    expect(response.status).toBe(302)
    expect(response.headers.get('cache-control')).toBe('no-store')
    const url = new URL(location)
    expect(url.origin + url.pathname).toBe(`${issuer.url}/authorize`)
    expect(Object.fromEntries(url.searchParams)).toEqual({
      response_type: 'code',
      client_id: CLIENT.id,
      redirect_uri: 'https://llm.example.com/api/auth/oidc/callback',
      scope: 'openid email profile',
      state: expect.stringMatching(/^[\w-]{43}$/),
      nonce: expect.stringMatching(/^[\w-]{43}$/),
      code_challenge: expect.stringMatching(/^[\w-]{43}$/),
      code_challenge_method: 'S256',
    })
    const cookie = response.headers.get('set-cookie') ?? ''
    expect(cookie).toMatch(/^__Host-oidc-[\w-]{16}=[\w.-]+; Max-Age=600; Path=\/; HttpOnly; SameSite=Lax; Secure$/)
    for (const part of ['state', 'nonce']) expect(cookie).not.toContain(url.searchParams.get(part))
  })

  it('without TLS uses a cookie without Secure, and without a public address the one of a local caller', async () => {
    const plain = await world({ env: { PUBLIC_URL: 'http://10.1.1.1:8788' } })
    expect((await plain.start()).response.headers.get('set-cookie')).toMatch(/^oidc-.*SameSite=Lax$/)
    await plain.close()
    const local = await oidcWorld(issuer, { env: { PUBLIC_URL: '' } })
    t = local
    const { location } = await local.start()
    expect(new URL(location).searchParams.get('redirect_uri')).toBe('http://gateway.test/api/auth/oidc/callback')
  })

  it('takes only a path of a page to return to', async () => {
    const t = await world()
    for (const path of FOREIGN) {
      const { response } = await t.start(path)
      expect(await errorOf(response), path).toMatchObject({ status: 400, param: 'return_to' })
      expect(response.headers.get('set-cookie')).toBeNull()
    }
  })
})

describe('callback', () => {
  it('ends in a session, which is in the fragment of the page that was asked for', async () => {
    const t = await world()
    const { location, cookie } = await t.start('/requests?status=5xx')
    const response = await t.callback({ code: codeFor(location), state: stateIn(location), iss: issuer.url }, cookie)
    expect(response.status).toBe(302)
    const [page, token] = (response.headers.get('location') ?? '').split('#token=')
    expect(page).toBe('https://llm.example.com/requests?status=5xx')
    expect(response.headers.get('referrer-policy')).toBe('no-referrer')
    expect(response.headers.get('set-cookie')).toMatch(/^__Host-oidc-[\w-]{16}=; Max-Age=0;/)
    expect(t.seen).toEqual([{ issuer: issuer.url, subject: 'u1', email: 'ada@example.com', name: 'Ada', memberships: null }])
    const me = await t.fetch('/api/auth/me', { headers: bearer(token as string) })
    expect(await me.json()).toMatchObject({ auth: 'oidc', role: 'manage', idp_enabled: true })
    const exchange = issuer.asked.find(({ path }) => path === '/token')
    expect(Object.fromEntries(exchange?.form ?? [])).toMatchObject({
      grant_type: 'authorization_code',
      redirect_uri: 'https://llm.example.com/api/auth/oidc/callback',
      code_verifier: expect.stringMatching(/^[\w-]{43}$/),
    })
    expect(exchange?.form.has('client_secret')).toBe(false)
  })

  it('sends the client secret in the form where the issuer wants it there', async () => {
    const t = await world()
    issuer.discovery = { token_endpoint_auth_methods_supported: ['client_secret_post'] }
    expect((await t.signIn()).status).toBe(302)
    const exchange = issuer.asked.find(({ path }) => path === '/token')
    expect(exchange?.headers.authorization).toBeUndefined()
    expect(exchange?.form.get('client_secret')).toBe(CLIENT.secret)
  })

  it('asks the userinfo endpoint for an address that the ID token leaves out', async () => {
    const t = await world()
    issuer.person = { sub: 'u1' }
    issuer.info = { email: 'bob@example.com', email_verified: true }
    expect((await t.signIn()).status).toBe(302)
    expect(t.seen[0]?.email).toBe('bob@example.com')
    issuer.info = { email: 'bob@example.com', sub: 'u2' }
    expect(await errorOf(await t.signIn())).toMatchObject({ status: 401, code: 'invalid_id_token' })
    issuer.info = { email: 'bob@example.com', email_verified: false }
    expect(await errorOf(await t.signIn())).toMatchObject({ status: 403, code: 'email_unverified' })
  })

  it('works in two tabs at the same time', async () => {
    const t = await world()
    const [a, b] = [await t.start('/a'), await t.start('/b')]
    const cookie = `${a.cookie}; ${b.cookie}`
    for (const { location } of [b, a])
      expect((await t.callback({ code: codeFor(location), state: stateIn(location) }, cookie)).status).toBe(302)
  })

  it('is recorded, with the reason when it fails', async () => {
    const t = await world()
    const token = (await t.signIn()).headers.get('location')?.split('#token=')[1] as string
    issuer.person.email_verified = false
    await t.signIn(PAGE)
    const records = await auditOf(t, token)
    expect(records.filter(({ action }) => action === 'user.login')).toMatchObject([
      { actor: 'user:7', details: { method: 'oidc' } },
    ])
  })

  it('maps groups to memberships, the highest role of an organization first', async () => {
    const groups = {
      'eng-admins': { organization: 'acme', role: 'admin' },
      eng: { organization: 'acme', role: 'member' },
      ops: { organization: 'ops', role: 'owner' },
    } as const
    const t = await world({ oidc: { groupsClaim: 'realm_access.roles', groups, scopes: ['email', 'groups'] } })
    expect(new URL((await t.start()).location).searchParams.get('scope')).toBe('openid email groups')
    const memberships = async (claims: Record<string, unknown>) => {
      issuer.person = { ...issuer.person, realm_access: undefined, ...claims }
      const response = await t.signIn()
      return response.status === 302 ? t.seen.at(-1)?.memberships : (await errorOf(response)).code
    }
    expect(await memberships({ realm_access: { roles: ['eng', 'eng-admins', 'x', 7, '__proto__', 'toString'] } })).toEqual([
      groups['eng-admins'],
    ])
    expect(await memberships({ realm_access: { roles: 'ops' } })).toEqual([groups.ops])
    expect(await memberships({ realm_access: { roles: [] } })).toEqual([])
    expect(await memberships({})).toEqual([])
    expect(await memberships({ 'realm_access.roles': ['eng'] })).toEqual([groups.eng])
    expect(await memberships({ 'realm_access.roles': undefined, _claim_names: { groups: 'src1' } })).toBe('too_many_groups')
  })
})

describe('without an identity provider', () => {
  it.each([
    [{ IDP_CLIENT_SECRET: '' }, 'GATEWAY_IDP_CLIENT_SECRET.'],
    [{ IDP_CLIENT_ID: '', IDP_CLIENT_SECRET: '' }, 'GATEWAY_IDP_CLIENT_ID, GATEWAY_IDP_CLIENT_SECRET.'],
    [{ MULTI_TENANT: 'false' }, 'GATEWAY_MULTI_TENANT=true.'],
  ])('logs which variables are missing: %j', async (env, missing) => {
    const log = recordingLog()
    await world({ env, ports: { log } })
    const hint = `The identity provider is off, and passwords sign in. Missing: ${missing}`
    expect(log.lines).toContainEqual({ level: 'warn', message: 'oidc.incomplete', fields: { plugin: 'oidc', hint } })
  })

  it('logs nothing when none of its variables is set', async () => {
    const log = recordingLog()
    await world({ env: { IDP_ISSUER: '', IDP_CLIENT_ID: '', IDP_CLIENT_SECRET: '' }, ports: { log } })
    expect(log.lines.map(({ message }) => message)).not.toContain('oidc.incomplete')
  })

  it('the routes are 404', async () => {
    const t = await world({ env: { IDP_CLIENT_SECRET: '' } })
    for (const path of ['start', 'callback'])
      expect(await errorOf(await t.fetch(`/api/auth/oidc/${path}`))).toMatchObject({ status: 404, code: 'not_found' })
  })
})
