// Organizations over their life: suspended, resumed, deleted; and what system administrators do with people.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openDatabase } from '../../../adapters/stores/open-database.ts'
import type { TestGateway } from '../../../adapters/testing/test-gateway.ts'
import { sql } from '../../../core/db/sql.ts'
import { ENGINES } from '../../support/engines.ts'
import { testPostgres } from '../../support/postgres.ts'
import { as, bearer, errorOf, logIn, openTenants, PASSWORD, peephole, postbox, type Session, signUp } from './support.ts'

const chat = { model: 'chat/m', messages: [{ role: 'user', content: 'hi' }] }

describe.each(ENGINES)('on $name', ({ name, missing }) => {
  describe.skipIf(missing !== null)('an organization', () => {
    let t: TestGateway
    let db: Awaited<ReturnType<typeof openDatabase>>
    let root: Session
    let drop = async (): Promise<void> => {}
    const peek = peephole()
    const post = postbox({ delivers: false })
    beforeAll(async () => {
      let url = 'sqlite::memory:'
      if (name.startsWith('PostgreSQL')) {
        const server = await testPostgres()
        url = server.url
        drop = () => server.drop()
      }
      db = await openDatabase(url, '.')
      t = await openTenants({ plugins: [post.plugin, peek.plugin], env: { ADMIN_EMAILS: 'root@corp.example' }, ports: { db } })
      root = await signUp(t, 'root@corp.example')
    })
    afterAll(async () => {
      await t.close()
      await db.close()
      await drop()
    })

    const keyOf = async (session: Session) =>
      (await as(t, session)<{ key: string }>('POST', '/api/keys', { label: 'app' })).body.key
    const call = (key: string) => t.post('/v1/chat/completions', chat, bearer(key))

    it('that is suspended has its keys refused, and its people read on', async () => {
      const ann = await signUp(t, 'ann@corp.example', { org_name: 'Anvils' })
      const key = await keyOf(ann)
      expect((await call(key)).status).not.toBe(403)
      expect((await as(t, ann)('POST', `/api/orgs/${ann.org?.id}/suspend`)).status).toBe(403)
      expect((await as(t, root)('POST', `/api/orgs/${ann.org?.id}/suspend`)).body).toMatchObject({ suspended: true })
      expect(await errorOf(await call(key))).toMatchObject({
        status: 403,
        type: 'permission_error',
        code: 'organization_suspended',
        message: expect.stringContaining('Anvils'),
      })
      expect((await as(t, await logIn(t, 'ann@corp.example'))('GET', '/api/orgs/current')).body).toMatchObject({
        suspended: true,
      })
      await as(t, root)('POST', `/api/orgs/${ann.org?.id}/resume`)
      expect((await call(key)).status).not.toBe(403)
      const audit = await as(t, ann)<{ data: { action: string }[] }>('GET', '/api/audit')
      expect(audit.body.data.map(({ action }) => action)).toEqual(
        expect.arrayContaining(['org.suspend', 'org.resume', 'key.create']),
      )
    })

    it('that is deleted leaves no row but those of the audit log, and answers with its export', async () => {
      const bob = await signUp(t, 'bob@corp.example', { org_name: 'Bobs' })
      const id = bob.org?.id as number
      const key = await keyOf(bob)
      await call(key)
      const made = await as(t, bob)('POST', '/api/providers', {
        provider: 'openai',
        label: 'main',
        api_key: 'sk-secret-of-bob-1234',
      })
      expect(made.status).toBe(201)
      expect((await as(t, bob)('DELETE', '/api/orgs/current', { confirm: 'Bob' })).status).toBe(400)
      const gone = await as(t, bob)('DELETE', '/api/orgs/current', { confirm: 'Bobs' })
      expect(gone).toMatchObject({ status: 200, body: { deleted: true, export: { hookgate_export: 1, secrets: null } } })
      expect(JSON.stringify(gone.body)).not.toContain('sk-secret-of-bob-1234')
      expect((await call(key)).status).toBe(401)
      expect((await as(t, bob)('GET', '/api/auth/me')).status).toBe(401)
      expect(await db.get(sql`SELECT COUNT(*) AS n FROM keys WHERE org_id = ${id}`)).toEqual({ n: 0 })
      expect(await db.get(sql`SELECT COUNT(*) AS n FROM connections WHERE org_id = ${id}`)).toEqual({ n: 0 })
      expect(await db.get(sql`SELECT COUNT(*) AS n FROM vault_keys WHERE scope = ${`org:${id}`}`)).toEqual({ n: 0 })
      expect((await as(t, root)('DELETE', `/api/orgs/${id}`, { confirm: 'Bobs' })).status).toBe(404)
      // The person stays, and gets an organization of its own at the next sign-in.
      const again = await logIn(t, 'bob@corp.example')
      expect(again.org?.id).not.toBe(id)
      expect(again.role).toBe('owner')
    })

    it('that is deleted takes the rows with it that hang on its own, and those of another one stay', async () => {
      const here = { hal: await signUp(t, 'hal@corp.example', { org_name: 'Hals' }), ida: await signUp(t, 'ida@corp.example') }
      for (const [name, session] of Object.entries(here)) await hang(session, name)
      expect(await hanging('hal')).toEqual(await hanging('ida'))
      expect(Object.values(await hanging('hal'))).not.toContain(0)
      expect((await as(t, here.hal)('DELETE', '/api/orgs/current', { confirm: 'Hals' })).status).toBe(200)
      expect(new Set(Object.values(await hanging('hal')))).toEqual(new Set([0]))
      expect(Object.values(await hanging('ida'))).not.toContain(0)
      // People, their identities and links are members' rows, and stay.
      expect(await db.get(sql`SELECT email FROM organizations_users WHERE id = ${here.hal.user.id}`)).toEqual({
        email: 'hal@corp.example',
      })
    })

    /** Ids of the rows that `hang` made, by name. */
    const made = new Map<string, { budget: number; connection: number }>()

    /** One row in every table without a column `org_id`. */
    async function hang(session: Session, name: string): Promise<void> {
      const call = as(t, session)
      const org = session.org?.id as number
      const connection = (
        await call<{ id: string }>('POST', '/api/providers', { provider: 'openai', label: 'main', api_key: 'sk-1' })
      ).body
      const budget = (await call<{ id: number }>('POST', '/api/budgets', { scope: 'org', window: 'daily', hard_limit_usd: 5 }))
        .body
      const ids = { budget: Number(budget.id), connection: Number(connection.id) }
      made.set(name, ids)
      const rows = [
        sql`INSERT INTO budgets_increases (budget_id, amount_nano, expires_at, created_at, created_by) VALUES (${ids.budget}, 1, 1, 1, 'x')`,
        sql`INSERT INTO budgets_states (budget_id, window_start, type, threshold) VALUES (${ids.budget}, 1, 'x', 1)`,
        sql`INSERT INTO quota_snapshots (connection_id, windows, source, fetched_at) VALUES (${ids.connection}, '[]', 'x', 1)`,
        sql`INSERT INTO quota_exhausted (connection_id, model, until) VALUES (${ids.connection}, 'm', 1)`,
        sql`INSERT INTO resilience_state (connection_id, updated_at) VALUES (${String(ids.connection)}, 1)`,
        sql`INSERT INTO resilience_locks (connection_id, model, until, reason, level) VALUES (${String(ids.connection)}, 'm', 1, 'x', 1)`,
        sql`INSERT INTO batches (id, org_id, endpoint, status, total, created_at, expires_at) VALUES (${name}, ${org}, '/v1/x', 'ended', 1, 1, 1)`,
        sql`INSERT INTO batches_items (batch_id, seq, custom_id, url, state) VALUES (${name}, 1, 'x', '/v1/x', 'done')`,
        sql`INSERT INTO webhooks_deliveries (id, org_id, event_id, endpoint_id, event_type, status, created_at) VALUES (${name}, ${org}, ${name}, 'p', 'x', 'failed', 1)`,
        sql`INSERT INTO webhooks_attempts (delivery_id, at, duration_ms) VALUES (${name}, 1, 1)`,
      ]
      for (const row of rows) await db.run(row)
    }

    async function hanging(name: string): Promise<Record<string, number>> {
      const { budget, connection } = made.get(name) as { budget: number; connection: number }
      const owners: Record<string, [column: string, value: string | number]> = {
        budgets_increases: ['budget_id', budget],
        budgets_states: ['budget_id', budget],
        quota_snapshots: ['connection_id', connection],
        quota_exhausted: ['connection_id', connection],
        resilience_state: ['connection_id', String(connection)],
        resilience_locks: ['connection_id', String(connection)],
        batches_items: ['batch_id', name],
        webhooks_attempts: ['delivery_id', name],
      }
      const counts: Record<string, number> = {}
      for (const [table, [column, value]] of Object.entries(owners)) {
        const row = await db.get<{ n: number }>(
          sql`SELECT COUNT(*) AS n FROM ${sql.id(table)} WHERE ${sql.id(column)} = ${value}`,
        )
        counts[table] = Number(row?.n)
      }
      return counts
    }

    it('and the person who made a key decides whether its address counts as verified', async () => {
      const cat = await signUp(t, 'cat@corp.example')
      const key = (await as(t, cat)<{ id: number }>('POST', '/api/keys', { label: 'k' })).body
      const orgs = peek.service()
      const org = cat.org?.id as number
      expect([orgs.emailVerified(null, null), orgs.emailVerified(org, key.id), orgs.emailVerified(org, null)]).toEqual([
        true,
        false,
        false,
      ])
      const { token } = await post.letter('verify', 'cat@corp.example')
      await t.post('/api/auth/verify', { token })
      expect([orgs.emailVerified(org, key.id), orgs.emailVerified(org, null)]).toEqual([true, true])
    })

    it('a system administrator creates, disables, enables and deletes accounts', async () => {
      const call = as(t, root)
      const dan = (
        await call<{ id: number }>('POST', '/api/users', { email: 'Dan@corp.example', password: PASSWORD, org_id: root.org?.id })
      ).body
      const session = await logIn(t, 'dan@corp.example')
      expect(session).toMatchObject({ org: root.org, role: 'member', user: { email_verified: true } })
      await call('PATCH', `/api/users/${dan.id}`, { disabled: true })
      expect((await as(t, session)('GET', '/api/auth/me')).status).toBe(401)
      const refused = await t.post('/api/auth/login', { email: 'dan@corp.example', password: PASSWORD })
      expect(await errorOf(refused)).toMatchObject({ status: 401, message: 'The e-mail address or the password is wrong.' })
      await call('PATCH', `/api/users/${dan.id}`, { disabled: false })
      expect((await as(t, session)('GET', '/api/auth/me')).status).toBe(401)
      await call('PATCH', `/api/users/${dan.id}`, { system_admin: true })
      expect((await logIn(t, 'dan@corp.example')).role).toBe('system')
      expect((await call('PATCH', `/api/users/${root.user.id}`, { disabled: true })).status).toBe(409)
      expect((await call('DELETE', `/api/users/${dan.id}`)).status).toBe(200)
      expect((await t.post('/api/auth/login', { email: 'dan@corp.example', password: PASSWORD })).status).toBe(401)
      expect((await call('GET', `/api/users`)).body).not.toMatchObject({
        data: expect.arrayContaining([expect.objectContaining({ id: dan.id })]),
      })
      const back = await signUp(t, 'dan@corp.example')
      expect(back.user.id).not.toBe(dan.id)
    })

    it('a system administrator enters any organization, and the gateway itself', async () => {
      const eve = await signUp(t, 'eve@corp.example')
      const inside = await as(t, root)<Session>('POST', '/api/auth/switch', { org_id: eve.org?.id })
      expect(inside.body).toMatchObject({ org: eve.org, role: 'system' })
      // A token that is made there stays there: the organization lists it, and may hold it.
      const { token } = (await as(t, inside.body)<{ token: string }>('POST', '/api/tokens', { label: 'help' })).body
      expect((await as(t, { token })('GET', '/api/auth/me')).body).toMatchObject({ org: eve.org, role: 'owner' })
      expect((await as(t, { token })('GET', '/api/keys')).status).toBe(200)
      expect((await as(t, { token })('GET', '/api/orgs')).status).toBe(403)
      const own = await as(t, root)<Session>('POST', '/api/auth/switch', { org_id: null })
      expect(own.body).toMatchObject({ org: null, role: 'system' })
      expect((await as(t, own.body)('GET', '/api/orgs/members')).status).toBe(400)
    })
  })
})

describe('the figures of the whole gateway', () => {
  it('are for its operators when /metrics and the free pool say so', async () => {
    const env = { ADMIN_EMAILS: 'root@corp.example', METRICS_REQUIRE_OPERATOR: 'true' }
    const t = await openTenants({ env })
    const [root, ann] = [await signUp(t, 'root@corp.example'), await signUp(t, 'ann@corp.example')]
    const metrics = async (session: Session) => (await t.fetch('/metrics', { headers: bearer(session.token) })).status
    expect([await metrics(root), await metrics(ann)]).toEqual([200, 403])
    const pool = async (session: Session) => (await as(t, session)('GET', '/api/free-pool')).body
    expect(await pool(root)).toMatchObject({ used: { hour: 0 }, global: { used: 0 } })
    expect(await pool(ann)).toMatchObject({ used: { hour: 0 }, global: { used: null } })
    await t.close()
  })

  it('are not in the settings that an organization reads, nor are addresses of the operator', async () => {
    const t = await openTenants({ env: { ADMIN_EMAILS: 'root@corp.example' } })
    const [root, ann] = [await signUp(t, 'root@corp.example'), await signUp(t, 'ann@corp.example')]
    await as(t, root)('PUT', '/api/settings', { 'billing.markup_pct': 10, 'billing.markup_pct_by_org': { 77: 5 } })
    const settings = async (session: Session) => (await as(t, session)('GET', '/api/settings')).body
    expect(await settings(root)).toMatchObject({
      billing: { markup_pct: 10, markup_pct_by_org: { 77: 5 } },
      email: { api_url: expect.any(String) },
    })
    expect((await settings(ann)).billing).toEqual({ markup_pct: 10 })
    expect(await settings(ann)).not.toHaveProperty('email')
    await t.close()
  })
})

describe('an identity of the provider', () => {
  it('becomes a person once, adopts the account of its address, and follows its groups', async () => {
    const peek = peephole()
    const t = await openTenants({
      plugins: [peek.plugin],
      config: { organizations: { acme: { name: 'Acme' } } },
    })
    const orgs = peek.service()
    const acme = orgs.all().find(({ name }) => name === 'Acme')?.id as number
    const ann = { issuer: 'https://idp.example', subject: '1', email: 'Ann@corp.example', name: 'Ann', memberships: null }
    const signedIn = (identity: Parameters<typeof orgs.signedInBy>[0]) =>
      orgs.signedInBy(identity, { address: null, local: false, secure: true })
    const first = await signedIn(ann)
    expect(orgs.user(first.userId)).toMatchObject({ email: 'ann@corp.example', emailVerified: true })
    expect(await signedIn({ ...ann, email: 'new@corp.example' })).toEqual(first)
    const squatter = await signUp(t, 'bob@corp.example')
    const bob = await signedIn({ ...ann, subject: '2', email: 'bob@corp.example' })
    expect(bob.userId).toBe(squatter.user.id)
    expect((await as(t, squatter)('GET', '/api/auth/me')).status).toBe(401)
    expect((await t.post('/api/auth/login', { email: 'bob@corp.example', password: PASSWORD })).status).toBe(401)
    const groups = (...memberships: { organization: string; role: 'member' | 'admin' | 'owner' }[]) =>
      signedIn({ ...ann, subject: '3', email: 'cy@corp.example', memberships })
    await expect(groups({ organization: 'Acme', role: 'admin' })).rejects.toMatchObject({ status: 403 })
    const cy = await groups({ organization: 'acme', role: 'member' }, { organization: 'acme', role: 'admin' })
    expect(cy.orgId).toBe(acme)
    expect(orgs.membership(cy.userId, acme)?.role).toBe('admin')
    await expect(groups()).rejects.toMatchObject({ status: 403 })
    expect(orgs.membership(cy.userId, acme)).toBeUndefined()
    const source = 'identity-provider'
    expect(peek.created.filter(({ details }) => details.source === source)).toMatchObject(
      [first, cy].map(({ userId }) => ({ action: 'user.create', actor: `user:${userId}`, target: String(userId) })),
    )
    expect(peek.audited.filter(([action]) => action.startsWith('member.'))).toEqual([
      ['member.set', acme],
      ['member.remove', acme],
    ])
    await t.close()
  })
})
