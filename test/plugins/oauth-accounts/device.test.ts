// Signing in with a code on another device: the vendor's interval, its answers, and the end of a sign-in.
import { afterEach, describe, expect, it } from 'vitest'
import { type Setup, setup } from './support.ts'

let s: Setup
afterEach(() => s.close())

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
