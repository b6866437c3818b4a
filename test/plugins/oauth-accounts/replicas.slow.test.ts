// Two gateways over one PostgreSQL: one of them refreshes an account, and the other one uses the result.
import { afterEach, describe, expect, it } from 'vitest'
import { scriptedUpstream } from '../../../adapters/testing/scripted-upstream.ts'
import { createTestGateway, type TestGateway } from '../../../adapters/testing/test-gateway.ts'
import { preset } from '../../../plugins/preset.ts'
import { type FakeOAuth, fakeOAuth } from '../../support/fake-oauth.ts'
import { testPostgres, whyNoPostgres } from '../../support/postgres.ts'
import { MASTER_KEY } from '../connections/support.ts'

const missing = await whyNoPostgres()
const ending: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const end of ending.splice(0).reverse()) await end()
})

async function replicas(expiresIn: number): Promise<{ one: TestGateway; two: TestGateway; vendor: FakeOAuth; sent(): string[] }> {
  const server = await testPostgres()
  ending.push(() => server.drop())
  const vendor = await fakeOAuth()
  vendor.expiresIn = expiresIn
  const upstream = await scriptedUpstream()
  ending.push(
    () => vendor.close(),
    () => upstream.close(),
  )
  const clients = {
    acme: {
      clientId: 'client-1',
      authorizationUrl: `${vendor.url}/authorize`,
      tokenUrl: `${vendor.url}/token`,
      baseUrl: upstream.baseUrl('chat'),
      wireFormat: 'chat' as const,
    },
  }
  const start = async () => {
    const t = await createTestGateway({
      env: { DATABASE_URL: server.url, MASTER_KEY },
      config: { connections: {}, plugins: preset({ oauthAccounts: { clients } }) },
    })
    ending.push(() => t.close())
    return t
  }
  const [one, two] = [await start(), await start()]
  return { one, two, vendor, sent: () => upstream.requests.map(({ headers }) => String(headers.authorization)) }
}

async function signIn(t: TestGateway, vendor: FakeOAuth): Promise<number> {
  const begun = await t.post('/api/oauth/acme/authorize', { redirect_uri: 'http://127.0.0.1:9/cb' })
  const { authorize_url } = (await begun.json()) as { authorize_url: string }
  const { code, state } = vendor.authorize(authorize_url)
  const done = await t.post('/api/oauth/acme/exchange', { code, state })
  expect(done.status).toBe(201)
  return ((await done.json()) as { id: number }).id
}

const ask = (t: TestGateway) => t.post('/v1/chat/completions', { model: 'acme/m', messages: [{ role: 'user', content: 'Hi' }] })

describe.skipIf(missing !== null)(`two replicas${missing === null ? '' : ` (${missing})`}`, () => {
  it('make one connection of an account that signs in at both', { timeout: 60_000 }, async () => {
    const { one, two, vendor } = await replicas(3600)
    const first = await Promise.all([one, two, one, two].map((t) => signIn(t, vendor)))
    const next = await signIn(two, vendor)
    expect(new Set([...first, next]).size).toBe(1)
    const listed = (await (await two.fetch('/api/oauth/accounts')).json()) as { data: { id: number }[] }
    expect(listed.data.map(({ id }) => id)).toEqual([next])
  })

  it('refresh an expired account once together', { timeout: 60_000 }, async () => {
    const { one, two, vendor, sent } = await replicas(2)
    await signIn(one, vendor)
    await expect.poll(async () => (await ask(two)).status, { timeout: 20_000 }).toBe(200)
    const token = sent().at(-1)
    const began = performance.now()
    // Real seconds: the vendor's clock and both gateways' run.
    await expect.poll(() => performance.now() - began > 2500, { timeout: 10_000 }).toBe(true)
    vendor.delayMs = 300
    vendor.expiresIn = 3600
    const before = vendor.calls.length
    const answers = await Promise.all(Array.from({ length: 40 }, (_, index) => ask(index % 2 === 0 ? one : two)))
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]))
    expect(vendor.calls.length - before).toBe(1)
    const used = new Set(sent().slice(-40))
    expect(used.size).toBe(1)
    expect(used.has(token as string)).toBe(false)
  })

  it('one takes over an account whose token the other one stored and never used', { timeout: 60_000 }, async () => {
    const { one, two, vendor, sent } = await replicas(3600)
    await signIn(one, vendor)
    await expect.poll(async () => (await ask(two)).status, { timeout: 20_000 }).toBe(200)
    const { data } = (await (await one.fetch('/api/oauth/accounts')).json()) as { data: { id: number }[] }
    const refresh = (t: TestGateway) => t.post(`/api/oauth/accounts/${data[0]?.id}/refresh`, {})
    expect((await refresh(one)).status).toBe(200)
    await one.close()
    expect((await refresh(two)).status).toBe(200)
    expect((await ask(two)).status).toBe(200)
    const used = vendor.calls.flatMap(({ form }) => form.refresh_token ?? [])
    expect(new Set(used).size).toBe(2)
    expect(vendor.isValid((sent().at(-1) ?? '').replace('Bearer ', ''))).toBe(true)
  })
})
