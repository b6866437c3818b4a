// Two replicas on PostgreSQL and Redis: a session of one works on the other, and whatever ends on one ends on the other in two seconds.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { text } from '../../../adapters/testing/script.ts'
import type { TestGateway } from '../../../adapters/testing/test-gateway.ts'
import { connected } from '../../support/own-connection.ts'
import { type TestPostgres, testPostgres, whyNoPostgres } from '../../support/postgres.ts'
import { patientRedis, REDIS_URL, reachedRedis, redisEnv, whyNoRedis } from '../../support/redis.ts'
import { as, bearer, openTenants, PASSWORD, type Session, signUp } from './support.ts'

const missing = (await whyNoPostgres()) ?? (await whyNoRedis())
const MASTER_KEY = Buffer.from('3f9a1c7e5b2d8046a1f0c3e7d2b49586fe10a7c4d9b35268e0f17a2c4b6d8e93', 'hex').toString('base64')

describe.skipIf(missing !== null)('two replicas', () => {
  patientRedis()
  let server: TestPostgres
  let a: TestGateway
  let b: TestGateway
  let owner: Session
  let root: Session
  beforeAll(async () => {
    server = await testPostgres()
    const env = {
      DATABASE_URL: server.url,
      REDIS_URL,
      ENV: redisEnv(),
      MASTER_KEY,
      ADMIN_EMAILS: 'root@corp.example',
    }
    a = await openTenants({ env })
    b = await openTenants({ env })
    root = await signUp(a, 'root@corp.example')
    owner = await signUp(a, 'owner@acme.example')
  }, 60_000)
  afterAll(async () => {
    await a.close()
    await b.close()
    await server.drop()
  })

  /** Ms until the call on the other replica is refused with `status`. */
  const until = async (status: number, call: () => Promise<number>): Promise<number> => {
    const from = performance.now()
    await expect.poll(call, { timeout: 10_000, interval: 20 }).toBe(status)
    return performance.now() - from
  }
  const meOn = (t: TestGateway, session: Session) => async () => (await as(t, session)('GET', '/api/auth/me')).status

  it('share sessions', async () => {
    await reachedRedis(a, b)
    expect(await until(200, meOn(b, owner))).toBeLessThan(2000)
  })

  it('end a membership on both within two seconds', async () => {
    const body = { email: 'ann@acme.example', password: PASSWORD, org_id: owner.org?.id, role: 'admin' }
    const { id } = (await as(a, root)<{ id: number }>('POST', '/api/users', body)).body
    const login = await a.post('/api/auth/login', { email: 'ann@acme.example', password: PASSWORD })
    const ann = (await login.json()) as Session
    await until(200, meOn(b, ann))
    const keys = async () => (await as(b, ann)('POST', '/api/keys', { label: 'k' })).status
    expect(await keys()).toBe(201)
    await as(a, owner)('PATCH', `/api/orgs/members/${id}`, { role: 'member' })
    expect(await until(403, keys)).toBeLessThan(2000)
    await as(a, owner)('DELETE', `/api/orgs/members/${id}`)
    expect(await until(401, meOn(b, ann))).toBeLessThan(2000)
  })

  it('end a session, and all sessions of an account, on both', async () => {
    const again = async () =>
      (await (await b.post('/api/auth/login', { email: 'owner@acme.example', password: PASSWORD })).json()) as Session
    const one = await again()
    const two = await again()
    await as(a, one)('POST', '/api/auth/logout')
    expect(await until(401, meOn(b, one))).toBeLessThan(2000)
    expect(await meOn(b, two)()).toBe(200)
    await as(a, two)('DELETE', '/api/auth/sessions')
    expect(await until(401, meOn(b, two))).toBeLessThan(2000)
    owner = await again()
  })

  it('apply a setting and a guardrail of one organization on both within two seconds, and to that one only', async () => {
    const other = await signUp(a, 'bea@bravo.example')
    const clientOf = async (session: Session) => {
      await connected(a, session.org?.id as number)
      const { key } = (await as(a, session)<{ key: string }>('POST', '/api/keys', { label: 'app' })).body
      return async () => {
        b.upstream.push(text('ok'))
        const body = { model: 'chat/m', messages: [{ role: 'user', content: 'a tulip' }] }
        return (await b.post('/v1/chat/completions', body, bearer(key))).status
      }
    }
    const [fromOwner, fromOther] = [await clientOf(owner), await clientOf(other)]
    await until(200, fromOwner)
    await until(200, fromOther)
    const guardrails = { enabled: true, keywords: { mode: 'block', deny: ['tulip'] } }
    expect((await as(a, owner)('PUT', '/api/settings', { guardrails })).status).toBe(200)
    expect(await until(400, fromOwner)).toBeLessThan(2000)
    expect(await fromOther()).toBe(200)
    await as(a, owner)('PUT', '/api/settings', { 'guardrails.enabled': null, 'exact_cache.ttl_ms': 5000 })
    expect(await until(200, fromOwner)).toBeLessThan(2000)
    const ttl = async (session: Session) =>
      ((await as(b, session)('GET', '/api/settings')).body.exact_cache as { ttl_ms: number }).ttl_ms
    await expect.poll(() => ttl(owner), { timeout: 2000 }).toBe(5000)
    expect(await ttl(other)).toBe(0)
  })

  it('refuse the keys of a suspended and of a deleted organization on both', async () => {
    const { key } = (await as(b, owner)<{ key: string }>('POST', '/api/keys', { label: 'app' })).body
    const call = async () => (await b.fetch('/v1/models', { headers: bearer(key) })).status
    expect(await call()).toBe(200)
    await as(a, root)('POST', `/api/orgs/${owner.org?.id}/suspend`)
    expect(await until(403, call)).toBeLessThan(2000)
    await as(a, root)('POST', `/api/orgs/${owner.org?.id}/resume`)
    expect(await until(200, call)).toBeLessThan(2000)
    await as(a, root)('DELETE', `/api/orgs/${owner.org?.id}`, { confirm: owner.org?.name })
    expect(await until(401, call)).toBeLessThan(2000)
  })

  it('share the throttle of failed sign-ins', async () => {
    // The attempts must fall into one minute of the wall clock.
    const left = 60_000 - (Date.now() % 60_000)
    if (left < 5000) await new Promise((resolve) => setTimeout(resolve, left + 50))
    const tries = [a, b, a, b, a, b].map((t, i) =>
      t.post('/api/auth/login', { email: 'root@corp.example', password: 'wrong' }, { 'x-forwarded-for': `203.0.113.${i}` }),
    )
    const statuses = (await Promise.all(tries)).map(({ status }) => status).sort()
    expect(statuses).toEqual([401, 401, 401, 401, 401, 429])
  })
})
