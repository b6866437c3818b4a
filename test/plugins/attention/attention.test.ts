// GET /api/attention: the facts of each plugin, their order, and who sees them.
import { afterEach, describe, expect, it } from 'vitest'
import { fakeClock } from '../../../adapters/testing/fake-clock.ts'
import { fail, text } from '../../../adapters/testing/script.ts'
import { createTestGateway, type TestGateway, type TestGatewayOptions } from '../../../adapters/testing/test-gateway.ts'
import { sql } from '../../../core/db/sql.ts'
import { definePlugin } from '../../../core/plugins/define.ts'
import type { AttentionItem } from '../../../core/types/attention.ts'
import { add, call } from '../connections/support.ts'
import { ask } from '../request-log/support.ts'
import { bearer, cheapHash, makeToken, sessionOf } from '../sign-in/support.ts'

interface Listed extends Omit<AttentionItem, 'since'> {
  id: string
  since: string | null
}

let t: TestGateway
afterEach(() => t.close())

async function made(options: TestGatewayOptions = {}): Promise<ReturnType<typeof fakeClock>> {
  const clock = fakeClock()
  t = await createTestGateway({ ...options, ports: { clock, ...options.ports } })
  return clock
}

const list = async (headers: Record<string, string> = {}): Promise<Listed[]> => {
  const response = await t.fetch('/api/attention', { headers })
  expect(response.status).toBe(200)
  return ((await response.json()) as { data: Listed[] }).data
}
const kinds = async () => (await list()).map(({ kind }) => kind)
const chat = async (model = 'chat/m') => (await t.post('/v1/chat/completions', ask(model))).status
const item = (more: Partial<AttentionItem>): AttentionItem => ({
  kind: 'test',
  severity: 'warning',
  subject: { kind: 'thing', id: '1', label: 'one' },
  title: 'It is so.',
  since: null,
  effect: null,
  levers: [],
  link: null,
  ...more,
})
/** A plugin that contributes these facts. */
const contributor = (facts: () => readonly AttentionItem[], name = 'contributor') =>
  definePlugin({ name, setup: (gateway) => gateway.use('attention').contribute(name, facts) })()

it('is empty when there is nothing', async () => {
  await made()
  expect(await list()).toEqual([])
})

describe('the list', () => {
  it('has the critical first, then the oldest, and each fact once', async () => {
    const subject = (id: string) => ({ kind: 'thing', id, label: id })
    const facts = [
      item({ subject: subject('new'), since: 3 }),
      item({ subject: subject('unknown') }),
      item({ subject: subject('old'), since: 1 }),
      item({ subject: subject('red'), since: 9, severity: 'critical' }),
      item({ subject: subject('old'), since: 2 }),
    ]
    await made({ plugins: [contributor(() => facts)] })
    const found = await list()
    expect(found.map(({ id }) => id)).toEqual(['test:thing:red', 'test:thing:old', 'test:thing:new', 'test:thing:unknown'])
    expect(found[0]).toMatchObject({ since: new Date(9).toISOString(), levers: [], effect: null })
  })

  it('is kept for five seconds, or until an operator changes something', async () => {
    let asked = 0
    const clock = await made({
      plugins: [
        contributor(() => {
          asked++
          return []
        }),
      ],
    })
    await list()
    await list()
    expect(asked).toBe(1)
    await clock.advance('5s')
    await list()
    expect(asked).toBe(2)
    await t.post('/api/keys', { label: 'new' })
    await list()
    await list()
    expect(asked).toBe(3)
  })

  it('says which source could not be read, and shows the others', async () => {
    const broken = contributor(() => {
      throw new Error('secret words')
    }, 'broken')
    await made({ plugins: [broken, contributor(() => [item({})])] })
    const found = await list()
    expect(found.map(({ kind, subject }) => [kind, subject.id])).toEqual([
      ['test', '1'],
      ['unread', 'broken'],
    ])
    expect(JSON.stringify(found)).not.toContain('secret words')
  })

  it('has levers for those who may use them only', async () => {
    const lever = { label: 'Do it', method: 'POST' as const, path: '/api/x', body: null }
    await made({
      plugins: [contributor(() => [item({ levers: [lever] })])],
      env: { DASHBOARD_PASSWORD_HASH: await cheapHash() },
      ports: {},
    })
    const session = await sessionOf(t)
    const { token } = await makeToken(t, session, { scope: 'read' })
    expect((await list(bearer(session)))[0]?.levers).toEqual([lever])
    expect((await list(bearer(token)))[0]?.levers).toEqual([])
    expect((await t.fetch('/api/attention')).status).toBe(401)
  })
})

describe('accounts', () => {
  it('an open circuit is critical and names its levers; half open it is a warning', async () => {
    const clock = await made({ upstream: Array.from({ length: 5 }, () => fail(500)) })
    for (let i = 0; i < 5; i++) await chat()
    const [outage, circuit] = [
      (await list()).find(({ kind }) => kind === 'provider_outage'),
      (await list()).find(({ kind }) => kind === 'circuit_open'),
    ]
    expect(outage).toMatchObject({ severity: 'warning', subject: { kind: 'provider', id: 'chat' } })
    expect(circuit).toMatchObject({
      severity: 'critical',
      title: expect.stringMatching(/^The circuit of .+ is open until .+Z after 5 failures\.$/),
      levers: [
        { label: 'Test it', method: 'POST', path: expect.stringMatching(/^\/api\/providers\/\d+\/test$/), body: null },
        {
          label: 'Lock it for an hour',
          method: 'POST',
          path: expect.stringMatching(/^\/api\/providers\/\d+\/locks$/),
          body: { minutes: 60 },
        },
      ],
    })
    await clock.advance('61s')
    expect((await list()).map(({ kind, severity }) => [kind, severity])).toEqual([['circuit_open', 'warning']])
  })

  it('a refused credential is critical, and ends with a new key', async () => {
    const clock = await made({ upstream: [fail(401)] })
    const { id } = await add(t, {
      provider: 'custom',
      api_key: 'sk-wrong-one',
      base_url: t.upstream.baseUrl('chat'),
      wire_format: 'chat',
      label: 'mine',
    })
    await call(t, 'POST', `/api/providers/${id}/test`, { model: 'm' })
    const [refused] = await list()
    expect(refused).toMatchObject({ kind: 'credential_refused', severity: 'critical', subject: { id: String(id) } })
    expect(refused?.levers.map(({ label }) => label)).toContain('Disable it')
    expect(JSON.stringify(refused)).not.toContain('sk-wrong-one')
    const lever = refused?.levers.find(({ label }) => label === 'Disable it')
    expect((await call(t, lever?.method as 'PUT', lever?.path as string, lever?.body)).status).toBe(200)
    await clock.advance('5s')
    expect(await list()).toEqual([])
  })
})

it('budgets: over 85 %, over 95 %, at the limit', async () => {
  const clock = await made()
  const budget = await call(t, 'POST', '/api/budgets', { scope: 'org', window: 'daily', hard_limit_usd: 1 })
  const { id } = (await budget.json()) as { id: number }
  const { window_start } = (await (await t.fetch(`/api/budgets/${id}`)).json()) as { window_start: string }
  const spend = async (usd: number): Promise<Listed | undefined> => {
    await t.gateway.db?.run(
      sql`INSERT INTO ledger_accounts (account, window_start, spent_nano, touched_at) VALUES (${`budget:${id}`}, ${Date.parse(window_start)}, ${usd * 1e9}, 1)
          ON CONFLICT (account, window_start) DO UPDATE SET spent_nano = excluded.spent_nano`,
    )
    await clock.advance('5s')
    return (await list())[0]
  }
  expect(await spend(0.5)).toBeUndefined()
  expect(await spend(0.86)).toMatchObject({ kind: 'budget_over_85', severity: 'warning' })
  expect(await spend(0.951)).toMatchObject({ kind: 'budget_over_95', severity: 'warning' })
  const full = await spend(1)
  expect(full).toMatchObject({ kind: 'budget_at_limit', severity: 'critical', title: expect.stringContaining('$1.00 of $1.00') })
  const [raise] = full?.levers ?? []
  expect((await call(t, 'POST', raise?.path as string, raise?.body)).status).toBe(201)
  await clock.advance('5s')
  expect(await kinds()).toEqual(['budget_over_85'])
})

it('requests without a known price, webhooks that fail, prices that moved, a virtual model without a target', async () => {
  const clock = await made({ upstream: [text('hello')], config: { connections: {} } })
  await t.gateway.db?.run(
    sql`INSERT INTO pricing_drift (run_id, provider, model, field, old_nano, new_nano, detected_at) VALUES (1, 'p', 'm', 'input', 1, 2, 3)`,
  )
  await t.gateway.db?.run(
    sql`INSERT INTO ledger_usage (request_id, step, at, source, operation, provider, model, requested_model, stream, status, latency_ms)
        VALUES ('req_1', 0, ${clock.now()}, 'api', 'chat', 'acme', 'm', 'acme/m', 0, 200, 1)`,
  )
  const made1 = await call(t, 'POST', '/api/webhooks/endpoints', { url: 'https://hooks.example.com/secret-path' })
  const { id } = (await made1.json()) as { id: string }
  await t.gateway.db?.run(sql`UPDATE webhooks_endpoints SET failing_since = 5 WHERE public_id = ${id}`)
  await call(t, 'POST', '/api/virtual-models', { name: 'coder', strategy: 'failover', targets: ['openai/gpt-4o'] })
  const found = await list()
  expect(found.map(({ kind }) => kind)).toEqual(['no_usable_target', 'price_drift', 'webhook_failing', 'unpriced'])
  expect(JSON.stringify(found)).not.toContain('secret-path')
  // Five days after the first failure.
  expect(found[2]?.effect).toContain('it is disabled at 1970-01-06T00:00:00.005Z')
  await t.gateway.db?.run(sql`UPDATE webhooks_endpoints SET enabled = 0, auto_disabled_at = 6 WHERE public_id = ${id}`)
  await clock.advance('5s')
  expect((await list()).find(({ kind }) => kind === 'webhook_disabled')).toMatchObject({ severity: 'critical' })
})

describe('the gateway itself', () => {
  it('a store that does not answer, a plugin that fails, a refused configuration', async () => {
    const broken = definePlugin({
      name: 'broken',
      setup: (gateway) =>
        gateway.hook('access', () => {
          throw new Error('a bug')
        }),
    })
    const health = [
      { name: 'database' as const, required: true, check: async () => ({ ok: false, latency_ms: 0 }) },
      { name: 'shared_store' as const, required: false, check: async () => ({ ok: false, mode: 'local' }) },
    ]
    const clock = await made({ plugins: [broken()], ports: { health } })
    await chat()
    await expect(t.gateway.reload({ plugins: 1 })).rejects.toThrow()
    const found = await list()
    expect(found.map(({ kind, severity }) => [kind, severity])).toEqual([
      ['plugin_failing', 'critical'],
      ['database_unreachable', 'critical'],
      ['reload_refused', 'warning'],
      ['shared_store_fallback', 'warning'],
    ])
    expect(found[0]?.link).toBe(`/system?tab=plugins&open=${found[0]?.subject.id}`)
    expect(found[0]?.subject.id).toBe('broken')
    expect(found[2]?.since).toBe(new Date(clock.now()).toISOString())
  })

  it('a broken audit chain', async () => {
    const clock = await made()
    for (let i = 0; i < 3; i++) await call(t, 'POST', '/api/keys', { label: `k${i}` })
    expect(await list()).toEqual([])
    await t.gateway.db?.run(sql`UPDATE audit_log SET actor = 'other' WHERE seq = 2`)
    await clock.advance('61s')
    expect(await list()).toMatchObject([
      { kind: 'audit_broken', severity: 'critical', title: expect.stringContaining('entry 2') },
    ])
  })
})
