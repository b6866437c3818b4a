// Management tokens.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type FakeClock, fakeClock } from '../../../adapters/testing/fake-clock.ts'
import type { TestGateway } from '../../../adapters/testing/test-gateway.ts'
import { sql } from '../../../core/db/sql.ts'
import { auditOf, bearer, errorOf, type MadeToken, makeToken, securedGateway, sessionOf } from './support.ts'

const UNKNOWN = { status: 401, type: 'authentication_error', code: 'invalid_credentials' }

describe('management tokens', () => {
  let t: TestGateway
  let clock: FakeClock
  let session: string
  beforeAll(async () => {
    clock = fakeClock()
    t = await securedGateway({ ports: { clock } })
    session = await sessionOf(t)
  })
  afterAll(() => t.close())
  const call = (credential: string, method = 'GET', path = '/api/keys', body?: unknown) =>
    t.fetch(path, {
      method,
      headers: { ...bearer(credential), 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })

  it('are shown once, and listed without what opens anything (L3)', async () => {
    const expires_at = new Date(clock.now() + 60_000).toISOString()
    const made = await makeToken(t, session, { label: 'ci', scope: 'read', expires_at })
    expect(made.token).toMatch(/^gmt_[0-9A-Za-z]{43}$/)
    const list = await (await call(session, 'GET', '/api/tokens')).text()
    const { token, ...record } = made
    expect(JSON.parse(list).data).toContainEqual(record)
    expect(record).toMatchObject({
      label: 'ci',
      scope: 'read',
      expires_at,
      created_by: 'local',
      last_used_at: null,
      org_id: null,
    })
    expect(record.token_hint).toBe(`…${token.slice(-4)}`)
    expect(list).not.toContain(token)
    for (const { path, method } of t.gateway.api.filter(
      (route) => route.method === 'GET' && !route.path.includes(':') && route.path !== '/api/events',
    ))
      expect(await (await call(session, method, path)).text(), path).not.toContain(token)
    expect(JSON.stringify(await auditOf(t, session))).not.toContain(token)
  })

  it('are never two the same, and use the whole alphabet (C12)', async () => {
    const many = await Promise.all(Array.from({ length: 40 }, () => makeToken(t, session)))
    expect(new Set(many.map(({ token }) => token)).size).toBe(40)
    expect(new Set(many.flatMap(({ token }) => [...token.slice(4)])).size).toBeGreaterThan(58)
  })

  it('of scope manage may do what a session may, of scope read only GET', async () => {
    const manage = await makeToken(t, session, { scope: 'manage' })
    const read = await makeToken(t, session, { scope: 'read' })
    const { id } = (await (await call(session, 'POST', '/api/keys', { label: 'k' })).json()) as { id: number }
    const writes: [string, string, unknown?][] = [
      ['POST', '/api/keys', {}],
      ['PATCH', `/api/keys/${id}`, { label: 'l' }],
      ['POST', `/api/keys/${id}/rotate`],
      ['POST', '/api/tokens', { scope: 'manage' }],
      ['DELETE', `/api/tokens/${read.id}`],
      ['POST', '/api/audit/export/ack', { seq: 0 }],
      ['POST', '/api/auth/logout'],
      ['DELETE', `/api/keys/${id}`],
    ]
    for (const path of ['/api/keys', '/api/tokens', '/api/audit', '/api/audit/verify', '/api/auth/me'])
      for (const { token } of [manage, read]) expect((await call(token, 'GET', path)).status, path).toBe(200)
    for (const [method, path, body] of writes)
      expect(await errorOf(await call(read.token, method, path, body)), path).toMatchObject({
        status: 403,
        type: 'permission_error',
      })
    for (const [method, path, body] of writes.filter(([, path]) => path !== '/api/auth/logout'))
      expect((await call(manage.token, method, path, body)).status, path).toBeLessThan(300)
    expect((await call(manage.token, 'POST', '/api/auth/logout')).status).toBe(400)
    expect((await call(manage.token, 'GET', '/api/auth/me')).status).toBe(200)
  })

  it('stand in the Authorization header and nowhere else', async () => {
    const { token } = await makeToken(t, session)
    for (const name of ['token', 'access_token', 'key', 'api_key'])
      expect((await t.fetch(`/api/keys?${name}=${token}`)).status, name).toBe(401)
    const elsewhere: Record<string, string>[] = [
      { 'x-api-key': token },
      { 'x-goog-api-key': token },
      { cookie: `token=${token}` },
    ]
    for (const headers of elsewhere) expect((await t.fetch('/api/keys', { headers })).status).toBe(401)
    // Beside a good header it changes nothing.
    expect((await t.fetch('/api/settings?token=gmt_x', { headers: bearer(token) })).status).toBe(200)
  })

  it('are what was given out, not what the database holds (A7)', async () => {
    const { token } = await makeToken(t, session)
    const rows = (await t.gateway.db?.all<{ mac: string }>(sql`SELECT mac FROM sign_in_tokens`)) ?? []
    expect(JSON.stringify(rows)).not.toContain(token.slice(4))
    for (const { mac } of rows)
      for (const stolen of [mac, `gmt_${mac}`, `gmt_${mac.slice(0, 43)}`])
        expect(await errorOf(await call(stolen)), stolen).toMatchObject(UNKNOWN)
    for (const near of [token.slice(0, -1), `${token}x`, token.toLowerCase(), `${token.slice(0, 40)}aaaaaaa`])
      expect((await call(near)).status, near).toBe(401)
  })

  it('are no client keys, and client keys are none of them', async () => {
    const { token } = await makeToken(t, session)
    const { key } = (await (await call(session, 'POST', '/api/keys', {})).json()) as { key: string }
    expect(await errorOf(await call(key))).toMatchObject(UNKNOWN)
    const models = await t.fetch('/v1/chat/completions', {
      method: 'POST',
      headers: { ...bearer(token), 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'chat/m', messages: [{ role: 'user', content: 'hi' }] }),
    })
    // Where keys are optional any string that is no key of ours is anonymous.
    expect(models.status).toBe(200)
    expect(t.settled.at(-1)?.ctx.principal.keyId).toBeNull()
  })

  it('end when they are deleted, and when they expire', async () => {
    const made = await makeToken(t, session)
    expect((await call(made.token)).status).toBe(200)
    expect(await (await call(session, 'DELETE', `/api/tokens/${made.id}`)).json()).toEqual({ deleted: true })
    expect((await call(made.token)).status).toBe(401)
    expect((await call(session, 'DELETE', `/api/tokens/${made.id}`)).status).toBe(404)
    expect(await (await call(session, 'GET', '/api/tokens')).text()).not.toContain(`"id":${made.id},`)

    const short = await makeToken(t, session, { expires_at: new Date(clock.now() + 60_000).toISOString() })
    await clock.advance(59_999)
    expect((await call(short.token)).status).toBe(200)
    await clock.advance(1)
    const refused = await errorOf(await call(short.token))
    expect(refused).toMatchObject(UNKNOWN)
    expect(refused.message).toContain('expired on 2026-')
  })

  it('may make tokens, but none that outlives them', async () => {
    const at = (ms: number) => new Date(clock.now() + ms).toISOString()
    const maker = await makeToken(t, session, { expires_at: at(3_600_000) })
    const child = (body: object) => call(maker.token, 'POST', '/api/tokens', body)
    expect(await errorOf(await child({ expires_at: at(3_600_001) }))).toMatchObject({ status: 400, param: 'expires_at' })
    const bounded = (await (await child({})).json()) as MadeToken
    expect(bounded).toMatchObject({ expires_at: maker.expires_at, created_by: `token:${maker.id}` })
    expect(((await (await child({ expires_at: at(1000) })).json()) as MadeToken).expires_at).toBe(at(1000))
  })

  it('say when they were used last, to the minute, with one write a minute', async () => {
    const made = await makeToken(t, session)
    const used = async () => {
      const { data } = (await (await call(session, 'GET', '/api/tokens')).json()) as {
        data: { id: number; last_used_at: string }[]
      }
      return data.find(({ id }) => id === made.id)?.last_used_at
    }
    const first = new Date(clock.now()).toISOString()
    for (let i = 0; i < 20; i++) await call(made.token)
    await clock.advance(1000)
    expect(await used()).toBe(first)
    await call(made.token)
    await clock.advance(1000)
    expect(await used()).toBe(first)
    await clock.advance(60_000)
    const second = new Date(clock.now()).toISOString()
    await call(made.token)
    await clock.advance(1000)
    expect(await used()).toBe(second)
  })

  const wrong: [string, unknown, string][] = [
    ['an empty label', { label: ' ' }, 'label'],
    ['a scope nobody knows', { scope: 'admin' }, 'scope'],
    ['two scopes', { scope: ['read', 'manage'] }, 'scope'],
    ['a time that is none', { expires_at: 'soon' }, 'expires_at'],
    ['a time that has passed', { expires_at: '2001-01-01T00:00:00Z' }, 'expires_at'],
    ['a role', { role: 'system' }, 'role'],
    ['an organization', { org_id: 2 }, 'org_id'],
    ['a token of his own', { token: `gmt_${'a'.repeat(43)}` }, 'token'],
  ]
  it.each(wrong)('refuse %s with 400 and the param', async (_, body, param) => {
    expect(await errorOf(await t.post('/api/tokens', body, bearer(session)))).toMatchObject({ status: 400, param })
  })

  it('are audited when they come and go', async () => {
    const made = await makeToken(t, session, { label: 'watched', scope: 'read' })
    await call(session, 'DELETE', `/api/tokens/${made.id}`)
    const [gone, came] = await auditOf(t, session)
    expect(came).toMatchObject({ action: 'token.create', actor: 'local', target: String(made.id) })
    expect(came?.details).toMatchObject({ label: 'watched', scope: 'read' })
    expect(gone).toMatchObject({ action: 'token.delete', actor: 'local', target: String(made.id), details: { label: 'watched' } })
  })
})
