// Signing in: PKCE with the loopback listener or a pasted address, duplicates, removal, and every refusal of the RFCs.
import { createHash } from 'node:crypto'
import { afterEach, describe, expect, it } from 'vitest'
import { sql } from '../../../core/db/sql.ts'
import { type Setup, setup } from './support.ts'

let s: Setup
afterEach(() => s.close())

describe('a sign-in with PKCE', () => {
  it('makes a connection that requests use, and shows no token', async () => {
    s = await setup()
    const account = await s.signIn()
    expect(account).toMatchObject({
      provider: 'acme',
      email: 'ada@example.test',
      display_name: 'Ada',
      status: 'active',
      scopes: ['inference', 'profile'],
    })
    expect((await s.ask()).status).toBe(200)
    expect(s.vendor.isValid((s.sent()[0] as string).replace('Bearer ', ''))).toBe(true)
    const { json } = await s.call('GET', `/api/providers/${account.id}`)
    expect(json).toMatchObject({ auth_type: 'oauth', has_api_key: false, label: 'ada@example.test', state: { status: 'active' } })
    expect((await s.call('GET', '/api/oauth/accounts')).json.data).toEqual([account])
    const registry = await s.call('GET', '/api/oauth/providers')
    expect(registry.json.data).toEqual([
      { id: 'acme', name: 'Acme', flow: 'both', configured: true, scopes: ['inference', 'profile'] },
    ])
  })

  it('sends the S256 challenge of a verifier that only the exchange reveals', async () => {
    s = await setup()
    const { json } = await s.call('POST', '/api/oauth/acme/authorize', { redirect_uri: 'http://127.0.0.1:9/callback' })
    const query = new URL(json.authorize_url).searchParams
    expect(Object.fromEntries(query)).toMatchObject({
      response_type: 'code',
      client_id: 'client-1',
      code_challenge_method: 'S256',
      scope: 'inference profile',
    })
    const { code, state } = s.vendor.authorize(json.authorize_url)
    await s.call('POST', '/api/oauth/acme/exchange', { state, code })
    const verifier = s.vendor.calls[0]?.form.code_verifier as string
    expect(verifier).toMatch(/^[0-9A-Za-z._~-]{43,128}$/)
    expect(createHash('sha256').update(verifier).digest('base64url')).toBe(query.get('code_challenge'))
  })

  it('refuses a state that is used, unknown, expired or of another provider', async () => {
    s = await setup()
    const begin = async () => (await s.call('POST', '/api/oauth/acme/authorize', { redirect_uri: 'http://127.0.0.1:9/' })).json
    const first = s.vendor.authorize((await begin()).authorize_url)
    expect((await s.call('POST', '/api/oauth/acme/exchange', first)).status).toBe(400) // A stray member.
    const exchange = ({ state, code }: { state: string; code: string }) =>
      s.call('POST', '/api/oauth/acme/exchange', { state, code })
    expect((await exchange(first)).status).toBe(201)
    const again = await exchange(first)
    expect([again.status, again.json.error.param]).toEqual([400, 'state'])
    expect((await exchange({ state: 'x', code: 'y' })).status).toBe(400)
    const late = s.vendor.authorize((await begin()).authorize_url)
    await s.clock.advance('11m')
    expect((await exchange(late)).status).toBe(400)
    expect((await s.call('POST', '/api/oauth/nobody/authorize', {})).status).toBe(404)
  })

  it.each([
    'access_denied',
    'server_error',
    'temporarily_unavailable',
    'invalid_scope',
    'unauthorized_client',
    'strange',
  ])('says what %s in the callback means', async (error) => {
    s = await setup()
    const answer = await s.call('POST', '/api/oauth/acme/exchange', {
      callback_url: `http://127.0.0.1:9/?error=${error}&state=x`,
    })
    expect([answer.status, answer.json.error.param]).toEqual([400, 'callback_url'])
  })

  it('sends codes only to the registered address or to this machine', async () => {
    s = await setup({ client: { redirectUri: 'https://gateway.example.com/done' } })
    const begin = (redirect_uri?: string) =>
      s.call('POST', '/api/oauth/acme/authorize', { ...(redirect_uri && { redirect_uri }) })
    expect((await begin('https://evil.example.com/')).json.error.param).toBe('redirect_uri')
    expect((await begin()).json.redirect_uri).toBe('https://gateway.example.com/done')
    expect((await begin('http://127.0.0.1:4711/cb')).status).toBe(200)
  })

  it('takes the answer of the browser on a listener of 127.0.0.1 that is open only until then', async () => {
    s = await setup()
    const { json } = await s.call('POST', '/api/oauth/acme/authorize', {})
    expect(json.redirect_uri).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/callback$/)
    const { code, state } = s.vendor.authorize(json.authorize_url)
    // No other address of this machine has it.
    await expect(fetch(json.redirect_uri.replace('127.0.0.1', '127.0.0.2'))).rejects.toThrow()
    const browser = (query: string) => fetch(`${json.redirect_uri}?${query}`)
    expect((await browser(`state=wrong&code=${code}`)).status).toBe(400)
    const [one, two] = await Promise.all([
      browser(`state=${state}&code=${code}`),
      browser(`state=${state}&code=${code}`).catch(() => null),
    ])
    expect([one.status, two?.status ?? 400].sort()).toEqual([200, 400])
    await expect(browser(`state=${state}&code=${code}`)).rejects.toThrow()
    expect((await s.call('GET', '/api/oauth/accounts')).json.data).toHaveLength(1)
  })

  it('closes the listener when the time is over', async () => {
    s = await setup()
    const { json } = await s.call('POST', '/api/oauth/acme/authorize', {})
    await s.clock.advance('11m')
    await expect(fetch(`${json.redirect_uri}?state=x&code=y`)).rejects.toThrow()
  })

  it.each([
    ['invalid_request', 502],
    ['invalid_client', 502],
    ['invalid_grant', 502],
    ['unauthorized_client', 502],
    ['unsupported_grant_type', 502],
    ['invalid_scope', 502],
  ])('reports %s of the token endpoint', async (error, status) => {
    s = await setup()
    const { json } = await s.call('POST', '/api/oauth/acme/authorize', { redirect_uri: 'http://127.0.0.1:9/' })
    const { code, state } = s.vendor.authorize(json.authorize_url)
    s.vendor.next.push({ status: 400, body: { error, error_description: `Your code ${code} is bad.` } })
    const answer = await s.call('POST', '/api/oauth/acme/exchange', { state, code })
    expect([answer.status, answer.json.error.code]).toEqual([status, `oauth_${error}`])
    expect(JSON.stringify(answer.json)).not.toContain(code)
  })

  it('authenticates a confidential client in the header', async () => {
    s = await setup({ secret: 'client secret' })
    await s.signIn()
    expect(s.vendor.calls[0]?.authorization).toBe(`Basic ${Buffer.from('client-1:client+secret').toString('base64')}`)
  })
})

describe('accounts', () => {
  it('are one connection for one person', async () => {
    s = await setup()
    const first = await s.signIn()
    expect((await s.signIn()).id).toBe(first.id)
    s.vendor.person = { sub: 'person-2', email: 'bob@example.test' }
    expect((await s.signIn()).id).not.toBe(first.id)
    expect((await s.call('GET', '/api/oauth/accounts')).json.data).toHaveLength(2)
  })

  it('are revoked and removed', async () => {
    s = await setup()
    const { id } = await s.signIn()
    expect((await s.call('DELETE', `/api/oauth/accounts/${id}`)).json).toEqual({ deleted: true })
    const revoked = s.vendor.calls.at(-1)
    expect([revoked?.path, revoked?.form.token_type_hint]).toEqual(['/revoke', 'refresh_token'])
    expect((await s.call('GET', `/api/providers/${id}`)).status).toBe(404)
    expect((await s.call('DELETE', `/api/oauth/accounts/${id}`)).status).toBe(404)
  })

  it('take no key and no other address, and open only in their own row', async () => {
    s = await setup()
    const { id } = await s.signIn()
    expect((await s.call('PUT', `/api/providers/${id}`, { api_key: 'sk-1234567890' })).json.error.param).toBe('api_key')
    expect((await s.call('PUT', `/api/providers/${id}`, { base_url: 'https://evil.example.com' })).json.error.param).toBe(
      'base_url',
    )
    s.vendor.person = { sub: 'person-2', email: 'bob@example.test' }
    const other = await s.signIn()
    const db = s.t.gateway.db as NonNullable<typeof s.t.gateway.db>
    await db.run(sql`UPDATE oauth_accounts SET tokens = (SELECT tokens FROM oauth_accounts WHERE connection_id = ${id})
                     WHERE connection_id = ${other.id}`)
    await s.call('PUT', `/api/providers/${id}`, { enabled: false })
    const answer = await s.ask()
    expect(answer.status).toBe(502)
    expect(s.sent()).toEqual([])
  })
})

describe('organizations', () => {
  it('see, finish, refresh and remove only their own sign-ins', async () => {
    s = await setup()
    const as = (orgId: number) => async (method: string, path: string, body?: unknown) => {
      const operator = { actor: 'test', orgId, role: 'owner', readOnly: false, auth: 'host' } as const
      const request = new Request(`http://gateway.test${path}`, {
        method,
        headers: { 'content-type': 'application/json' },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      })
      const answer = await s.t.gateway.control.fetch(request, { address: null, local: false, secure: true, operator })
      return { status: answer.status, json: (await answer.json()) as Record<string, unknown> }
    }
    const [alpha, bravo] = [as(7), as(8)]
    const begun = await alpha('POST', '/api/oauth/acme/authorize', { redirect_uri: 'http://127.0.0.1:9/' })
    const { code, state } = s.vendor.authorize(String(begun.json.authorize_url))
    expect((await bravo('POST', '/api/oauth/acme/exchange', { code, state })).status).toBe(400)
    const { json, status } = await alpha('POST', '/api/oauth/acme/exchange', { code, state })
    expect(status).toBe(201)
    const device = await alpha('POST', '/api/oauth/acme/device')
    expect((await bravo('POST', `/api/oauth/device/${device.json.session_id}/poll`)).status).toBe(404)
    expect((await bravo('GET', '/api/oauth/accounts')).json.data).toEqual([])
    expect((await bravo('POST', `/api/oauth/accounts/${json.id}/refresh`)).status).toBe(404)
    expect((await bravo('DELETE', `/api/oauth/accounts/${json.id}`)).status).toBe(404)
    expect((await alpha('GET', '/api/oauth/accounts')).json.data).toEqual([json])
  })
})
