// Signing in: PKCE with the loopback listener or a pasted address, device codes, duplicates, removal, and every refusal of the RFCs.
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

describe('a sign-in on another device', () => {
  const begin = async () => (await s.call('POST', '/api/oauth/acme/device')).json
  const poll = (id: string) => s.call('POST', `/api/oauth/device/${id}/poll`)
  const asked = () => s.vendor.calls.filter(({ form }) => form.grant_type?.includes('device')).length

  it('keeps the interval towards the vendor, however often it is polled', async () => {
    s = await setup()
    const { session_id, user_code, interval, ...rest } = await begin()
    expect({ user_code, interval, rest }).toEqual({
      user_code: 'WDJB-MJHT',
      interval: 5,
      rest: { verification_uri: 'https://vendor.test/device', verification_uri_complete: null, expires_in: 900 },
    })
    for (let i = 0; i < 20; i++) expect((await poll(session_id)).json).toEqual({ status: 'pending' })
    expect(asked()).toBe(0)
    await s.clock.advance('5s')
    await Promise.all(Array.from({ length: 10 }, () => poll(session_id)))
    expect(asked()).toBe(1)
    s.vendor.confirmed = true
    await s.clock.advance('5s')
    const { json } = await poll(session_id)
    expect(json).toMatchObject({ status: 'complete', account: { email: 'ada@example.test' } })
    const audit = async () => (await s.call('GET', '/api/audit?action=oauth.poll')).json.data
    expect(await audit()).toMatchObject([{ target: String(json.account.id), details: { status: 'complete' } }])
    expect((await poll(session_id)).json).toEqual(json)
    expect((await s.ask()).status).toBe(200)
  })

  it.each([
    [90, 90],
    [600, 600],
    [0, 1],
    [-5, 1],
    ['7', 7],
    [undefined, 5],
    [1e300, 900],
  ])('keeps an interval of %s as %s seconds, through slow_down and failures', async (interval, seconds) => {
    s = await setup()
    const given = { device_code: 'dc', user_code: 'AB', verification_uri: 'https://vendor.test/d', expires_in: 900, interval }
    s.vendor.nextDevice.push({ status: 200, body: given })
    const { session_id, interval: shown } = await begin()
    expect(shown).toBe(seconds)
    const next = async (after: number, answer: { status: number; body: unknown }) => {
      await s.clock.advance(after * 1000 - 1)
      const before = asked()
      await Promise.all(Array.from({ length: 5 }, () => poll(session_id)))
      expect(asked()).toBe(before)
      s.vendor.next.push(answer)
      await s.clock.advance(1)
      await Promise.all(Array.from({ length: 5 }, () => poll(session_id)))
      return asked() - before
    }
    if (seconds >= 300) return
    expect(await next(seconds, { status: 400, body: { error: 'slow_down' } })).toBe(1)
    expect(await next(seconds + 5, { status: 503, body: {} })).toBe(1)
    expect(
      await next(Math.max(seconds + 5, Math.min(60, 2 * (seconds + 5))), { status: 400, body: { error: 'access_denied' } }),
    ).toBe(1)
  })

  it('honours slow_down', async () => {
    s = await setup()
    const { session_id } = await begin()
    s.vendor.next.push({ status: 400, body: { error: 'slow_down' } })
    await s.clock.advance('5s')
    expect((await poll(session_id)).json.status).toBe('slow_down')
    await s.clock.advance('9s')
    expect((await poll(session_id)).json.status).toBe('pending')
    expect(asked()).toBe(1)
    await s.clock.advance('1s')
    await poll(session_id)
    expect(asked()).toBe(2)
  })

  it.each([
    ['access_denied', 'denied'],
    ['expired_token', 'expired'],
  ])('ends after %s', async (error, status) => {
    s = await setup()
    const { session_id } = await begin()
    s.vendor.next.push({ status: 400, body: { error } })
    await s.clock.advance('5s')
    expect((await poll(session_id)).json).toEqual({ status })
    expect((await poll(session_id)).json).toEqual({ status })
    expect(asked()).toBe(1)
  })

  it.each([
    'invalid_client',
    'invalid_request',
    'unauthorized_client',
    'unsupported_grant_type',
    'invalid_scope',
  ])('reports %s of a poll and of the device endpoint, and the poll can be repeated', async (error) => {
    s = await setup()
    const { session_id } = await begin()
    s.vendor.next.push({ status: 400, body: { error } })
    await s.clock.advance('5s')
    const answer = await poll(session_id)
    expect([answer.status, answer.json.error.code]).toEqual([502, `oauth_${error}`])
    s.vendor.confirmed = true
    expect((await poll(session_id)).json).toEqual({ status: 'pending' })
    await s.clock.advance('5s')
    expect((await poll(session_id)).json.status).toBe('complete')
    s.vendor.nextDevice.push({ status: 400, body: { error } })
    const refused = await s.call('POST', '/api/oauth/acme/device')
    expect([refused.status, refused.json.error.code]).toEqual([502, `oauth_${error}`])
  })

  it('expires, waits longer for a vendor that fails, and is unknown to others', async () => {
    s = await setup()
    const { session_id } = await begin()
    s.vendor.next.push({ status: 503, body: {} })
    await s.clock.advance('5s')
    expect((await poll(session_id)).json.status).toBe('pending')
    await s.clock.advance('6s')
    await poll(session_id)
    expect(asked()).toBe(1)
    await s.clock.advance('15m')
    expect((await poll(session_id)).json).toEqual({ status: 'expired' })
    expect((await poll('A'.repeat(43))).status).toBe(404)
  })
})
