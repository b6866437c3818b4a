// /api/audit: actions are recorded, and can be listed, verified, exported and pruned.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type FakeClock, fakeClock } from '../../../adapters/testing/fake-clock.ts'
import type { TestGateway } from '../../../adapters/testing/test-gateway.ts'
import { sql } from '../../../core/db/sql.ts'
import { definePlugin } from '../../../core/plugins/define.ts'
import type { AuditLog } from '../../../core/services.ts'
import type { Operator } from '../../../core/types/operator.ts'
import { auditOf, errorOf, jumpingClock, openGateway } from '../sign-in/support.ts'

const DAY = 86_400_000
const HOUR = 3_600_000

/** Passes the service out, and records its events. */
function listener() {
  const heard: { type: string; data: unknown }[] = []
  let log: AuditLog | undefined
  const plugin = definePlugin({
    name: 'test-listener',
    requires: ['audit'],
    setup(gateway) {
      log = gateway.use('audit')
      for (const type of ['key.created', 'key.rotated', 'key.deleted', 'user.created', 'user.deleted'] as const)
        gateway.events.on(type, (data) => void heard.push({ type, data }))
    },
  })
  return {
    heard,
    plugin: plugin(),
    append: (action: string, more: object = {}) => (log as AuditLog).append({ ...BLANK, action, ...more }),
  }
}
const BLANK = { orgId: null, actor: 'tester', target: null, details: {}, ip: null }

const asOperator = (t: TestGateway, path: string, operator: Partial<Operator>, init?: RequestInit) =>
  t.gateway.control.fetch(new Request(`http://gateway.test${path}`, init), {
    address: null,
    local: null,
    secure: true,
    operator: { actor: 'x', orgId: null, role: 'system', readOnly: false, auth: 'host', ...operator },
  })

describe('/api/audit', () => {
  let t: TestGateway
  let clock: FakeClock
  const ears = listener()
  beforeAll(async () => {
    clock = fakeClock()
    t = await openGateway({ plugins: [ears.plugin], ports: { clock } })
  })
  afterAll(() => t.close())
  const list = async (query: string) =>
    (await (await t.fetch(`/api/audit?${query}`)).json()) as { data: { seq: number }[]; next_cursor: string | null }

  it('tells of each write who did what to what, and of no secret', async () => {
    const made = (await (await t.post('/api/keys', { label: 'ci', rate_limit_rpm: 5 })).json()) as { id: number; key: string }
    await t.fetch(`/api/keys/${made.id}`, {
      method: 'PATCH',
      body: '{"label":"cd"}',
      headers: { 'content-type': 'application/json' },
    })
    const rotated = (await (await t.fetch(`/api/keys/${made.id}/rotate`, { method: 'POST' })).json()) as { key: string }
    await t.fetch(`/api/keys/${made.id}`, { method: 'DELETE' })
    const entries = (await auditOf(t, null)).slice(0, 4).reverse()
    expect(entries.map(({ action }) => action)).toEqual(['key.create', 'key.update', 'key.rotate', 'key.delete'])
    for (const entry of entries) expect(entry).toMatchObject({ actor: 'local', target: String(made.id), ip: '127.0.0.1' })
    expect(entries[0]?.details).toEqual({ label: 'ci', rate_limit_rpm: 5 })
    const text = JSON.stringify(await t.gateway.db?.all(sql`SELECT * FROM audit_log`))
    for (const { key } of [made, rotated]) expect(text).not.toContain(key)
  })

  it('tells the bus of keys and users, with the fields of the webhook', async () => {
    const target = (await auditOf(t, null)).at(-1)?.target
    expect(ears.heard.map(({ type }) => type)).toEqual(['key.created', 'key.rotated', 'key.deleted'])
    expect(ears.heard[0]?.data).toEqual({
      action: 'key.create',
      actor: 'local',
      target,
      org_id: null,
      at: new Date(clock.now()).toISOString(),
      details: { label: 'ci', rate_limit_rpm: 5 },
    })
    await ears.append('user.create', { orgId: 3, target: '9', details: { email: 'a@b.test', password: 'hunter2' } })
    await ears.append('user.delete', { orgId: 3, target: '9' })
    await ears.append('user.login', { orgId: 3, target: '9' })
    expect(ears.heard.slice(3).map(({ type }) => type)).toEqual(['user.created', 'user.deleted'])
    expect(ears.heard[3]?.data).toMatchObject({ org_id: 3, details: { email: 'a@b.test', password: '***' } })
  })

  it('has the reason that the caller gives in a header', async () => {
    const write = (reason: string) => t.post('/api/keys', { label: 'why' }, { 'x-audit-reason': reason })
    expect((await write(encodeURIComponent('Störung bei Acme'))).status).toBe(201)
    expect((await auditOf(t, null))[0]?.details).toEqual({ label: 'why', reason: 'Störung bei Acme' })
    expect((await write('%20')).status).toBe(201)
    expect((await auditOf(t, null))[0]?.details).toEqual({ label: 'why' })
    const before = (await auditOf(t, null)).length
    for (const wrong of ['%', 'x'.repeat(501), '%00'])
      expect(await (await write(wrong)).json()).toMatchObject({ error: { param: 'x-audit-reason' } })
    expect((await auditOf(t, null)).length).toBe(before)
  })

  it('has no entry for what was refused', async () => {
    const before = (await auditOf(t, null)).length
    expect((await t.post('/api/keys', { label: '' })).status).toBe(400)
    expect((await t.fetch('/api/keys/999', { method: 'DELETE' })).status).toBe(404)
    expect(await auditOf(t, null)).toHaveLength(before)
  })

  it('is read newest first, page by page, without a gap while more is written', async () => {
    for (let i = 0; i < 25; i++) await ears.append('page.test', { target: String(i) })
    const seen: number[] = []
    let cursor: string | null = null
    do {
      const page: Awaited<ReturnType<typeof list>> = await list(
        `action=page.test&limit=7${cursor === null ? '' : `&cursor=${cursor}`}`,
      )
      expect(page.data.length).toBeLessThanOrEqual(7)
      seen.push(...page.data.map(({ seq }) => seq))
      cursor = page.next_cursor
      await ears.append('other.test')
    } while (cursor !== null)
    expect(seen).toHaveLength(25)
    expect(seen).toEqual([...seen].sort((a, b) => b - a))
  })

  it('can be filtered by action, actor and time', async () => {
    await clock.advance(1000)
    const from = clock.now()
    await ears.append('filter.a', { actor: 'ann' })
    await clock.advance(1000)
    await ears.append('filter.b', { actor: 'ann' })
    await clock.advance(1000)
    await ears.append('filter.a', { actor: 'ben' })
    const at = (ms: number) => encodeURIComponent(new Date(from + ms).toISOString())
    const count = async (query: string) => (await list(query)).data.length
    expect(await count('action=filter.a')).toBe(2)
    expect(await count('actor=ann')).toBe(2)
    expect(await count('action=filter.a&actor=ann')).toBe(1)
    expect(await count(`since=${at(1000)}`)).toBe(2)
    expect(await count(`since=${at(0)}&until=${at(1000)}`)).toBe(1)
    expect(await count(`actor=ann&since=${at(0)}&until=${at(1001)}`)).toBe(2)
    expect(await count("actor=' OR 1=1 --")).toBe(0)
  })

  it.each([
    ['limit=0', 'limit'],
    ['limit=201', 'limit'],
    ['limit=x', 'limit'],
    ['limit=1e2', 'limit'],
    ['cursor=-1', 'cursor'],
    ['cursor=1;DROP', 'cursor'],
    ['since=yesterday', 'since'],
    ['until=2026-13-01T00:00:00Z', 'until'],
    ['actor=', 'actor'],
    ['acton=x', 'acton'],
  ])('?%s is 400 and names the parameter', async (query, param) => {
    expect(await errorOf(await t.fetch(`/api/audit?${query}`))).toMatchObject({ status: 400, param })
  })

  it('shows an organization its own part, and the chain as a whole only to whoever runs the gateway', async () => {
    await ears.append('org.test', { orgId: 41, target: 'ours' })
    await ears.append('org.test', { orgId: 42, target: 'theirs' })
    const mine = (await (await asOperator(t, '/api/audit', { orgId: 41, role: 'manage' })).json()) as {
      data: { target: string }[]
    }
    expect(mine.data.map(({ target }) => target)).toEqual(['ours'])
    expect((await asOperator(t, '/api/audit', { orgId: 41, role: 'member' })).status).toBe(403)
    for (const path of ['/api/audit/verify', '/api/audit/export'])
      expect((await asOperator(t, path, { orgId: 41, role: 'manage' })).status, path).toBe(403)
    const ack = { method: 'POST', body: '{"seq":1}', headers: { 'content-type': 'application/json' } }
    expect((await asOperator(t, '/api/audit/export/ack', { orgId: 41, role: 'manage' }, ack)).status).toBe(403)
  })

  it('verifies, and names what was tampered with; what is left can still be read', async () => {
    const report = async () => (await (await t.fetch('/api/audit/verify')).json()) as Record<string, unknown>
    const whole = await report()
    expect(whole).toMatchObject({ ok: true, from_seq: 1, first_bad_seq: null, anchor_seq: null })
    await t.gateway.db?.run(sql`UPDATE audit_log SET details = 'no json' WHERE seq = 3`)
    expect(await report()).toMatchObject({ ok: false, first_bad_seq: 3 })
    const { data } = (await list('limit=200')) as unknown as { data: { seq: number; details: unknown }[] }
    expect(data.find(({ seq }) => seq === 3)?.details).toEqual({ unreadable: true })
  })
})

describe('export and retention', () => {
  const open = async (env: Record<string, string> = { AUDIT_RETENTION_DAYS: '30' }) => {
    const clock = jumpingClock()
    const ears = listener()
    const t = await openGateway({ env, plugins: [ears.plugin], ports: { clock } })
    return {
      t,
      ears,
      afterDays: async (days: number, hours = 0) => {
        clock.jump(days * DAY)
        await clock.advance(hours * HOUR)
      },
    }
  }
  const ack = (t: TestGateway, seq: unknown) => t.post('/api/audit/export/ack', { seq })
  const seqs = async (t: TestGateway) => (await auditOf(t, null)).map(({ seq }) => seq).reverse()

  it('exports JSON lines from behind a number, or from behind what was acknowledged', async () => {
    const { t, ears } = await open()
    for (let i = 1; i <= 12; i++) await ears.append('export.test', { target: String(i) })
    const lines = async (query = '') => {
      const response = await t.fetch(`/api/audit/export${query}`)
      expect(response.headers.get('content-type')).toBe('application/x-ndjson')
      expect(response.headers.get('content-disposition')).toContain('attachment')
      const text = await response.text()
      return text === ''
        ? []
        : text
            .trimEnd()
            .split('\n')
            .map((line) => (JSON.parse(line) as { seq: number }).seq)
    }
    expect(await lines()).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12])
    expect(await lines('?limit=5')).toEqual([1, 2, 3, 4, 5])
    expect(await lines('?after_seq=10')).toEqual([11, 12])
    expect(await lines('?after_seq=99')).toEqual([])
    expect(await (await ack(t, 5)).json()).toEqual({ exported_seq: 5 })
    expect(await lines('?limit=2')).toEqual([6, 7])
    expect(await (await ack(t, 3)).json()).toEqual({ exported_seq: 5 })
    expect((await auditOf(t, null))[0]).toMatchObject({ action: 'export', target: '3', actor: 'local' })
    for (const bad of [-1, 1.5, '5', null, 1000])
      expect(await errorOf(await ack(t, bad)), String(bad)).toMatchObject({ status: 400, param: 'seq' })
    expect((await t.fetch('/api/audit/export?limit=5001')).status).toBe(400)
    await t.close()
  })

  it('keeps everything that was never exported, however old', async () => {
    const { t, ears, afterDays } = await open()
    for (let i = 0; i < 5; i++) await ears.append('old.test')
    await afterDays(100, 2)
    expect(await seqs(t)).toEqual([1, 2, 3, 4, 5])
    await t.close()
  })

  it('takes away within two hours what is exported and old, keeps the anchor, and goes on', async () => {
    const { t, ears, afterDays } = await open()
    for (let i = 0; i < 5; i++) await ears.append('old.test')
    await afterDays(20)
    await ears.append('young.test')
    await ack(t, 4)
    await afterDays(10, 2)
    expect(await seqs(t)).toEqual([5, 6, 7])
    const report = (await (await t.fetch('/api/audit/verify')).json()) as object
    expect(report).toEqual({ ok: true, from_seq: 5, to_seq: 7, first_bad_seq: null, anchor_seq: 4 })
    await ears.append('new.test')
    expect(await (await t.fetch('/api/audit/verify')).json()).toMatchObject({ ok: true, to_seq: 8 })
    await t.close()
  })

  it.each<Record<string, string>>([
    {},
    { AUDIT_RETENTION_DAYS: '0' },
  ])('keeps everything without a number of days (%j)', async (env) => {
    const { t, ears, afterDays } = await open(env)
    for (let i = 0; i < 3; i++) await ears.append('old.test')
    await ack(t, 3)
    await afterDays(100, 2)
    expect(await seqs(t)).toEqual([1, 2, 3, 4])
    await t.close()
  })
})
