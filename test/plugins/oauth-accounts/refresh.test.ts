// Tokens of accounts: refreshed early and once, stored before they are used, and given up only when the vendor refuses them.
import { afterEach, describe, expect, it } from 'vitest'
import { fail, text } from '../../../adapters/testing/script.ts'
import { type Setup, setup } from './support.ts'

let s: Setup
afterEach(() => s.close())

const refreshes = () => s.vendor.calls.filter(({ form }) => form.grant_type === 'refresh_token')
const status = async (id: number) =>
  (await s.call('GET', '/api/oauth/accounts')).json.data.find((one: { id: number }) => one.id === id)?.status
describe('a token', () => {
  it('that has expired is refreshed once for 200 parallel requests', async () => {
    s = await setup()
    s.vendor.expiresIn = 30
    await s.signIn()
    await s.ask()
    const [old] = s.sent()
    // Sooner than the timer of every minute.
    await s.clock.advance('31s')
    s.vendor.delayMs = 50
    const answers = await Promise.all(Array.from({ length: 200 }, () => s.ask()))
    expect(new Set(answers.map((answer) => answer.status))).toEqual(new Set([200]))
    expect(refreshes()).toHaveLength(1)
    const used = s.sent().slice(1)
    expect(used).toHaveLength(200)
    expect(used).not.toContain(old)
    expect(new Set(used).size).toBe(1)
    expect(s.vendor.isValid((used[0] ?? '').replace('Bearer ', ''))).toBe(true)
  })

  it('is refreshed early while requests use the old one, and not before', async () => {
    s = await setup()
    await s.signIn()
    await s.ask()
    await s.clock.advance('54m')
    await s.ask()
    expect(refreshes()).toHaveLength(0)
    await s.clock.advance('2m')
    await s.ask()
    await expect.poll(() => refreshes().length).toBe(1)
    await expect.poll(async () => (await s.ask()) && new Set(s.sent()).size).toBe(2)
    expect(refreshes()).toHaveLength(1)
  })

  it('without an expiry is renewed after a refusal, and the request is sent again', async () => {
    s = await setup({ upstream: [fail(401), text('Hello')] })
    s.vendor.expiresIn = null
    await s.signIn()
    await s.clock.advance('20s')
    // The first request reads the token.
    const answer = await s.ask()
    expect(answer.status).toBe(200)
    expect(refreshes()).toHaveLength(1)
    expect(new Set(s.sent()).size).toBe(2)
  })

  it.each([
    -5, 0, 1e300,
  ])('that lives %s seconds, as the vendor says, serves the request that asked for it', async (expiresIn) => {
    s = await setup()
    s.vendor.expiresIn = expiresIn
    await s.signIn()
    expect((await s.ask()).status).toBe(200)
    expect((await s.ask()).status).toBe(200)
  })

  it('keeps serving while the vendor is down, and the vendor is left alone meanwhile', async () => {
    s = await setup()
    s.vendor.expiresIn = 100
    await s.signIn()
    await s.ask()
    await s.clock.advance('85s')
    s.vendor.next.push({ status: 503, body: {} })
    for (let i = 0; i < 10; i++) expect((await s.ask()).status).toBe(200)
    await expect.poll(() => s.logged('oauth.not_refreshed')).toBe(1)
    for (let i = 0; i < 10; i++) expect((await s.ask()).status).toBe(200)
    expect(refreshes()).toHaveLength(1)
    await s.clock.advance('31s')
    expect((await s.ask()).status).toBe(200)
    expect(refreshes().length).toBeGreaterThan(1)
    expect(new Set(s.sent()).size).toBe(2)
  })
})

describe('a refresh token', () => {
  it.each([
    ['invalid_request', 400],
    ['invalid_client', 401],
    ['unauthorized_client', 400],
    ['unsupported_grant_type', 400],
    ['invalid_scope', 400],
    ['server_error', 500],
    ['temporarily_unavailable', 503],
    ['slow_down', 429],
    ['a_code_of_no_standard', 400],
  ])('stays when the vendor answers %s: the account is active, and its valid token serves', async (error, code) => {
    s = await setup()
    const { id } = await s.signIn()
    s.vendor.next.push({ status: code, body: { error, error_description: 'Said by the vendor.' } })
    const { status: answered, json } = await s.call('POST', `/api/oauth/accounts/${id}/refresh`)
    expect([answered, json.error.code]).toEqual([502, 'credential_unavailable'])
    expect(JSON.stringify(json)).not.toContain('Said by the vendor')
    expect(await status(id)).toBe('active')
    expect((await s.ask()).status).toBe(200)
    expect((await s.call('POST', `/api/oauth/accounts/${id}/refresh`)).status).toBe(200)
  })

  it('that the vendor rotates is stored before its access token is used', async () => {
    s = await setup()
    const { id } = await s.signIn()
    const first = refreshes().length
    expect((await s.call('POST', `/api/oauth/accounts/${id}/refresh`)).status).toBe(200)
    expect((await s.call('POST', `/api/oauth/accounts/${id}/refresh`)).status).toBe(200)
    const [one, two] = refreshes()
      .slice(first)
      .map(({ form }) => form.refresh_token)
    expect(one).not.toBe(two)
    expect((await s.ask()).status).toBe(200)
  })

  it('that was lost on the way is replaced by the one before', async () => {
    s = await setup()
    const { id } = await s.signIn()
    const refresh = () => s.call('POST', `/api/oauth/accounts/${id}/refresh`)
    await refresh()
    // The vendor never learned that its answer arrived: it keeps the old token and forgets the new one.
    s.vendor.forgetNewest()
    expect((await refresh()).status).toBe(200)
    expect(await status(id)).toBe('active')
    expect(refreshes()).toHaveLength(3)
  })

  it('whose answer never arrived still works: nothing was written before', async () => {
    s = await setup()
    const { id } = await s.signIn()
    // The vendor rotates, and the answer is cut.
    s.vendor.cut = true
    expect((await s.call('POST', `/api/oauth/accounts/${id}/refresh`)).status).toBe(502)
    expect((await s.ask()).status).toBe(200)
    s.vendor.cut = false
    await s.clock.advance('31s')
    expect((await s.call('POST', `/api/oauth/accounts/${id}/refresh`)).status).toBe(200)
    expect(await status(id)).toBe('active')
  })

  it('that is refused ends the account until a new sign-in, without further calls', async () => {
    s = await setup()
    const { id } = await s.signIn()
    s.vendor.forgetAll()
    await s.clock.advance('2h')
    const before = refreshes().length
    expect((await s.ask()).status).toBe(503)
    expect((await s.ask()).status).toBe(503)
    expect(refreshes().length).toBe(before)
    expect(before).toBe(1)
    expect(await status(id)).toBe('reauth_required')
    expect((await s.call('GET', `/api/providers/${id}`)).json.state.status).toBe('reauth_required')
    const { json } = await s.call('GET', '/api/attention')
    expect(JSON.stringify(json)).toContain('reauth_required')
    expect((await s.signIn()).id).toBe(id)
    expect((await s.ask()).status).toBe(200)
  })

  it('that is refused lets the next account answer, and nothing is counted for the refused one', async () => {
    s = await setup()
    const first = await s.signIn()
    const expired = s.clock.now()
    s.vendor.expiresIn = 36_000
    s.vendor.person = { sub: 'person-2' }
    const second = await s.signIn()
    s.vendor.forgetAll()
    // No timer runs between the expiry and the request.
    await s.clock.advance(3_600_001 - (s.clock.now() - expired))
    expect((await s.ask()).status).toBe(200)
    await s.t.untilCommitted(1)
    const { outcome, ctx } = s.t.settled[0] as (typeof s.t.settled)[number]
    expect(outcome.steps.map(({ connectionId }) => connectionId)).toEqual([String(second.id)])
    expect(ctx.attempts.map(({ skipped }) => skipped?.reason ?? null)).toContain(null)
    expect(s.sent()).toHaveLength(1)
    expect(await status(first.id)).toBe('reauth_required')
  })
})
