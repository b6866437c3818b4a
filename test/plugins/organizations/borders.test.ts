// A tenant gets nothing from outside its organization: the 401 names the right sign-in route, /metrics and local routes are closed, and a
// deletion removes the sums of its budgets.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { text } from '../../../adapters/testing/script.ts'
import { createTestGateway, type TestGateway } from '../../../adapters/testing/test-gateway.ts'
import { sql } from '../../../core/db/sql.ts'
import { definePlugin } from '../../../core/plugins/define.ts'
import type { Db } from '../../../core/types/ports/db.ts'
import { connected } from '../../support/own-connection.ts'
import { as, bearer, errorOf, openTenants, type Session, signUp } from './support.ts'

let db: Db
const look = definePlugin({
  name: 'look',
  setup(gateway) {
    db = gateway.db
  },
})
const here = definePlugin({
  name: 'here',
  setup(gateway) {
    for (const method of ['GET', 'POST'] as const)
      gateway.api({ method, path: '/api/here', summary: '', role: 'system', profile: 'local', audit: false, handler: () => ({}) })
  },
})

let t: TestGateway
let root: Session
let ann: Session
beforeAll(async () => {
  t = await openTenants({ env: { ADMIN_EMAILS: 'root@corp.example' }, plugins: [look()] })
  root = await signUp(t, 'root@corp.example')
  ann = await signUp(t, 'ann@acme.example')
})
afterAll(() => t.close())

describe('an anonymous caller', () => {
  it('hears of the route that signs tenants in', async () => {
    const { message } = await errorOf(await t.fetch('/api/keys'))
    expect(message).toContain('POST /api/auth/login')
    expect(message).not.toContain('/api/login')
  })

  it('hears of the identity provider where that alone signs people in', async () => {
    const idp = await openTenants({ env: { IDP_CLIENT_ID: 'id', IDP_CLIENT_SECRET: 'secret' } })
    expect((await errorOf(await idp.fetch('/api/keys'))).message).toContain('GET /api/auth/oidc/start')
    await idp.close()
  })
})

describe('/metrics', () => {
  it('shows a tenant no figures, whichever credential it sends', async () => {
    const { key } = (await as(t, ann)<{ key: string }>('POST', '/api/keys', { label: 'app' })).body
    const { token } = (await as(t, ann)<{ token: string }>('POST', '/api/tokens', { label: 'ops' })).body
    for (const credential of [ann.token, key, token]) {
      const response = await t.fetch('/metrics', { headers: bearer(credential) })
      expect(response.status).toBe(200)
      const samples = (await response.text()).split('\n').filter((line) => line !== '' && !line.startsWith('#'))
      expect(samples).toEqual(['gateway_up 1'])
    }
    expect(await (await t.fetch('/metrics', { headers: bearer(root.token) })).text()).toContain('gateway_requests_in_flight')
  })
})

describe('a route of the profile local', () => {
  it('is 404 on cloud for every method and caller, as an unknown one is', async () => {
    const cloud = await openTenants({ env: { ADMIN_EMAILS: 'root@corp.example', PROFILE: 'cloud' }, plugins: [here()] })
    const people = [await signUp(cloud, 'root@corp.example'), await signUp(cloud, 'ann@acme.example'), null]
    for (const session of people)
      for (const method of ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']) {
        const ask = (path: string) => cloud.fetch(path, { method, headers: session === null ? {} : bearer(session.token) })
        const [local, unknown] = [await ask('/api/here'), await ask('/api/gone')]
        expect(local.status, method).toBe(404)
        expect(local.headers.get('allow')).toBe(unknown.headers.get('allow'))
      }
    await cloud.close()
    const single = await createTestGateway({ plugins: [here()] })
    expect([(await single.fetch('/api/here')).status, (await single.fetch('/api/here', { method: 'PUT' })).status]).toEqual([
      200, 405,
    ])
    await single.close()
  })
})

describe('the budgets of a deleted organization', () => {
  it('leave no sums behind, and those of others stay', async () => {
    const bob = await signUp(t, 'bob@other.example')
    const accounts = async () =>
      (await db.all<{ account: string }>(sql`SELECT account FROM ledger_accounts ORDER BY account`)).map(({ account }) => account)
    const names: string[] = []
    for (const session of [ann, bob]) {
      const orgId = session.org?.id as number
      await connected(t, orgId)
      const price = { provider: 'chat', model: 'm', input_usd_per_mtok: 1, output_usd_per_mtok: 1 }
      await as(t, session)('PUT', '/api/pricing/overrides', price)
      const { id } = (
        await as(t, session)<{ id: number }>('POST', '/api/budgets', { scope: 'org', window: 'monthly', hard_limit_usd: 9 })
      ).body
      names.push(`budget:${id}`)
      const { key } = (await as(t, session)<{ key: string }>('POST', '/api/keys', { label: 'app' })).body
      t.upstream.push(text('one'))
      const body = { model: 'chat/m', messages: [{ role: 'user', content: 'hello' }] }
      expect((await t.post('/v1/chat/completions', body, bearer(key))).status).toBe(200)
      await t.gateway.committed()
    }
    expect(await accounts()).toEqual(expect.arrayContaining(names))
    await as(t, root)('DELETE', `/api/orgs/${bob.org?.id}`, { confirm: bob.org?.name })
    await expect.poll(accounts, { timeout: 10_000 }).not.toContain(names[1])
    expect(await accounts()).toContain(names[0])
  })
})
