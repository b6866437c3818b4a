// Two replicas on PostgreSQL and Redis: a sign-in that begins on one ends on the other, once, and failures count on both.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type TestPostgres, testPostgres, whyNoPostgres } from '../../support/postgres.ts'
import { patientRedis, REDIS_URL, reachedRedis, redisEnv, whyNoRedis } from '../../support/redis.ts'
import { bearer, errorOf } from '../sign-in/support.ts'
import { codeFor, type FakeIssuer, fakeIssuer, signingKey } from './fake-issuer.ts'
import { type OidcWorld, oidcWorld, stateIn } from './support.ts'

const missing = (await whyNoPostgres()) ?? (await whyNoRedis())
const MASTER_KEY = Buffer.from('3f9a1c7e5b2d8046a1f0c3e7d2b49586fe10a7c4d9b35268e0f17a2c4b6d8e93', 'hex').toString('base64')

describe.skipIf(missing !== null)('two replicas', () => {
  patientRedis()
  let server: TestPostgres
  let issuer: FakeIssuer
  let a: OidcWorld
  let b: OidcWorld
  beforeAll(async () => {
    server = await testPostgres()
    issuer = await fakeIssuer(await signingKey('k1'))
    const env = { DATABASE_URL: server.url, REDIS_URL, ENV: redisEnv(), MASTER_KEY }
    a = await oidcWorld(issuer, { env })
    b = await oidcWorld(issuer, { env })
  }, 60_000)
  afterAll(async () => {
    await a.close()
    await b.close()
    await issuer.close()
    await server.drop()
  })

  it('finish each other’s sign-ins, each once', async () => {
    await reachedRedis(a, b)
    const { location, cookie } = await a.start('/keys')
    const query = { code: codeFor(location), state: stateIn(location) }
    const done = await b.callback(query, cookie)
    expect(done.status).toBe(302)
    const [page, token] = (done.headers.get('location') ?? '').split('#token=')
    expect(page).toBe('https://llm.example.com/keys')
    for (const t of [a, b]) {
      const me = await t.fetch('/api/auth/me', { headers: bearer(token as string) })
      expect(await me.json()).toMatchObject({ auth: 'oidc' })
    }
    expect(await errorOf(await a.callback(query, cookie))).toMatchObject({ status: 400, code: 'invalid_state' })
  })

  it('give a code that is used on both at once to one of them', async () => {
    const { location, cookie } = await b.start()
    const query = { code: codeFor(location), state: stateIn(location) }
    const statuses = (await Promise.all([a, b, a, b].map((t) => t.callback(query, cookie)))).map(({ status }) => status)
    expect(statuses.sort()).toEqual([302, 400, 400, 400])
  })

  it('count failures of one address together', async () => {
    // The attempts must fall into one minute of the wall clock.
    const left = 60_000 - (Date.now() % 60_000)
    if (left < 15_000) await new Promise((resolve) => setTimeout(resolve, left + 50))
    const here = { 'x-forwarded-for': '198.51.100.9' }
    const statuses: number[] = []
    for (let i = 0; i < 21; i++)
      statuses.push((await [a, b][i % 2]?.callback({ code: 'x', state: 'y'.repeat(43) }, '', here))?.status ?? 0)
    expect(statuses).toEqual([...Array(20).fill(400), 429])
    for (const t of [a, b]) expect((await t.start('/', here)).response.status).toBe(429)
  })
})
