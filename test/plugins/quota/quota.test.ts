// Remaining quota of an account: from answers and queries, stored, and the effect when none remains.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { sqliteDatabase } from '../../../adapters/stores/sqlite.ts'
import { fakeClock } from '../../../adapters/testing/fake-clock.ts'
import { fail, reset, text } from '../../../adapters/testing/script.ts'
import { scriptedUpstream } from '../../../adapters/testing/scripted-upstream.ts'
import type { TestGateway } from '../../../adapters/testing/test-gateway.ts'
import { sql } from '../../../core/db/sql.ts'
import { add, call, list, MASTER_KEY, testOf } from '../connections/support.ts'
import { ask } from '../keys/support.ts'
import { type World, world } from './support.ts'

const open: Pick<TestGateway, 'close'>[] = []
/** One database in a file for each test. */
let dir: string
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'hookgate-quota-'))
})
afterEach(async () => {
  for (const one of open.splice(0).reverse()) await one.close()
  rmSync(dir, { recursive: true, force: true })
})
const file = () => sqliteDatabase({ path: join(dir, 'gateway.db') })
const started = async (...options: Parameters<typeof world>): Promise<World> => {
  const w = await world(...options)
  open.push(w)
  return w
}

/** A daily window of the key's requests, `remaining` of them left. */
const day = (remaining: number, reset = '5h') => ({
  headers: { 'x-ratelimit-limit': '100', 'x-ratelimit-remaining': String(remaining), 'x-ratelimit-reset': reset },
})
const dayOf = (remaining: number, model: string) => ({
  headers: {
    'x-ratelimit-limit-requests-day': '100',
    'x-ratelimit-remaining-requests-day': String(remaining),
    'x-ratelimit-reset-requests-day': '5h',
    'x-model': model,
  },
})
const turn = () => new Promise((resolve) => setImmediate(resolve))

describe('a snapshot', () => {
  it('comes with each answer: plain, streamed or refused', async () => {
    const t = await started({
      upstream: [text('hi', day(70)), text('hi', day(60)), fail(429, { message: 'slow down', ...day(50) }), text('hi')],
    })
    expect(await t.snapshots()).toEqual([])
    await (await t.send()).text()
    const [first] = await t.snapshots()
    expect(first).toMatchObject({
      provider: 'chat',
      plan: null,
      exhausted: false,
      source: 'headers',
      error: null,
      windows: [{ name: 'requests', unit: 'requests', used: 30, limit: 100, remaining: 70, remaining_pct: 70, exhausted: false }],
    })
    await (await t.post('/v1/chat/completions', { ...ask('chat/m'), stream: true })).text()
    expect((await t.snapshots())[0]?.windows[0]?.remaining).toBe(60)
    expect((await t.send()).status).toBe(429)
    expect((await t.snapshots())[0]?.windows[0]?.remaining).toBe(50)
    // Headers without information change nothing.
    await t.clock.advance('5m')
    expect((await t.send()).status).toBe(200)
    expect((await t.snapshots())[0]?.windows[0]?.remaining).toBe(50)
    expect(t.told).toEqual([])
  })

  it('is of the account that was asked, not of the one before it', async () => {
    const t = await started({ upstream: [fail(500, { message: 'down', ...day(10) }), reset(), text('hi')] })
    const up = { provider: 'acme', base_url: t.upstream.baseUrl('chat'), wire_format: 'chat' }
    const ids = [await add(t, { ...up, api_key: 'sk-one-key' }), await add(t, { ...up, api_key: 'sk-two-key' })].map(
      ({ id }) => id,
    )
    await t.send('acme/m')
    expect((await t.snapshots('?provider=acme')).map(({ connection_id }) => connection_id)).toEqual([ids[0]])
    expect(await t.snapshots(`?connection_id=${ids[1]}`)).toEqual([])
  })

  it('outlives the process', async () => {
    const env = { MASTER_KEY }
    const first = await world({ upstream: [text('hi', day(0))], env, ports: { db: file() } })
    await first.send()
    await expect.poll(() => first.told.length).toBe(1)
    const before = await first.snapshots()
    await first.close()
    const second = await started({ env, ports: { db: file() } })
    expect(await second.snapshots()).toEqual(before)
    expect((await second.send()).status).toBe(429)
    expect(second.upstream.requests).toHaveLength(0)
    expect(second.told).toEqual([])
  })
})

describe('an account with nothing left', () => {
  it('is passed over until its reset, and the event goes out once', async () => {
    const t = await started({ upstream: [text('last', day(0)), text('fresh', day(99))] })
    expect((await t.send()).status).toBe(200)
    const refused = await t.send()
    expect(refused.status).toBe(429)
    expect(Number(refused.headers.get('retry-after'))).toBe(5 * 3600)
    expect(await refused.text()).toContain('quota_exhausted')
    expect(t.upstream.requests).toHaveLength(1)
    const [snapshot] = await t.snapshots()
    expect(snapshot).toMatchObject({ exhausted: true, resets_at: new Date(t.clock.now() + 5 * 3_600_000).toISOString() })
    const shown = (await list(t)).find(({ id }) => id === snapshot?.connection_id)
    expect(shown?.state).toMatchObject({ status: 'quota_exhausted', quota_exhausted: true, quota_resets_at: snapshot?.resets_at })
    expect(t.told).toEqual([
      { provider: 'chat', account_id: String(snapshot?.connection_id), occurred_at: expect.stringMatching(/Z$/) },
    ])
    await t.clock.advance('5h')
    expect((await t.send()).status).toBe(200)
    expect((await t.snapshots())[0]).toMatchObject({ exhausted: false, resets_at: null })
    expect(t.told).toHaveLength(1)
  })

  it('is skipped until the reset of a rate limit, too, without the event', async () => {
    for (const model of [true, false]) {
      const names = model ? '-requests' : ''
      const headers = { [`x-ratelimit-remaining${names}`]: '0', [`x-ratelimit-reset${names}`]: '20s' }
      const t = await started({ upstream: [text('last', { headers }), text('fresh', day(99))] })
      expect((await t.send()).status).toBe(200)
      const refused = await t.send()
      expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '20'])
      expect((await t.send('chat/other')).status).toBe(model ? 200 : 429)
      await t.clock.advance('20s')
      expect((await t.send()).status).toBe(200)
      expect(t.told).toEqual([])
    }
  })

  it('lets the next account serve', async () => {
    const t = await started({ upstream: [text('one', day(0)), text('two')] })
    const up = { provider: 'acme', base_url: t.upstream.baseUrl('chat'), wire_format: 'chat' }
    await add(t, { ...up, api_key: 'sk-one-key' })
    await add(t, { ...up, api_key: 'sk-two-key' })
    await t.send('acme/m')
    expect(await (await t.send('acme/m')).text()).toContain('two')
    expect(t.upstream.requests.map(({ headers }) => headers.authorization)).toEqual(['Bearer sk-one-key', 'Bearer sk-two-key'])
  })

  it('of one model only is passed over for that, without an event', async () => {
    const t = await started({ upstream: [text('hi', dayOf(0, 'a')), text('hi', dayOf(9, 'b'))] })
    await t.send('chat/a')
    expect((await t.send('chat/a')).status).toBe(429)
    expect((await t.send('chat/b')).status).toBe(200)
    expect((await t.send('chat/a')).status).toBe(429)
    const [snapshot] = await t.snapshots()
    expect(snapshot?.exhausted).toBe(false)
    expect(snapshot?.windows.map(({ model, exhausted }) => [model, exhausted])).toEqual([
      ['a', true],
      ['b', false],
    ])
    expect(t.told).toEqual([])
  })

  it('comes back when a test of the connection finds something left, or with another key', async () => {
    const t = await started({ upstream: [text('hi', day(0)), text('hi', day(5)), text('hi', day(0)), text('hi', day(7))] })
    const { id } = await add(t, {
      provider: 'acme',
      base_url: t.upstream.baseUrl('chat'),
      wire_format: 'chat',
      api_key: 'sk-old-key',
    })
    await t.send('acme/m')
    expect((await t.send('acme/m')).status).toBe(429)
    expect((await testOf(t, id, { model: 'm' })).ok).toBe(true)
    expect((await t.snapshots())[0]?.exhausted).toBe(false)
    expect((await t.send('acme/m')).status).toBe(200)
    expect((await t.send('acme/m')).status).toBe(429)
    await expect.poll(() => t.told.length).toBe(2)
    await call(t, 'PUT', `/api/providers/${id}`, { label: 'the same key' })
    expect((await t.send('acme/m')).status).toBe(429)
    await call(t, 'PUT', `/api/providers/${id}`, { api_key: 'sk-new-key' })
    expect((await t.send('acme/m')).status).toBe(200)
    expect((await t.snapshots())[0]).toMatchObject({ exhausted: false, windows: [{ remaining: 7 }] })
  })

  it('is told of once by two processes that find out together, and the next one heeds it', async () => {
    const clock = fakeClock()
    const upstream = await scriptedUpstream(text('hi', day(0)))
    open.push(upstream)
    const connections = {
      acme: { provider: 'custom', baseUrl: upstream.baseUrl('chat'), wireFormat: 'chat' as const, apiKey: 'sk-acme' },
    }
    const replica = () => started({ clock, env: { MASTER_KEY }, config: { connections }, ports: { db: file() } })
    const [a, b] = [await replica(), await replica()]
    expect([(await a.send('acme/m')).status, (await b.send('acme/m')).status]).toEqual([200, 200])
    await expect.poll(() => a.told.length + b.told.length).toBe(1)
    for (let i = 0; i < 5; i++) await turn()
    expect(a.told.length + b.told.length).toBe(1)
    expect((await (await replica()).send('acme/m')).status).toBe(429)
    expect(upstream.requests).toHaveLength(2)
  })

  it('is told of once, too, when the failure says so itself', async () => {
    const message = 'You exceeded your current quota, please check your plan.'
    const t = await started({
      upstream: [fail(429, { message, code: 'insufficient_quota', ...day(0) })],
    })
    expect((await t.send()).status).toBe(429)
    await expect.poll(async () => (await t.snapshots())[0]?.exhausted).toBe(true)
    for (let i = 0; i < 5; i++) await turn()
    expect(t.told).toHaveLength(1)
  })
})

it('rows of an account are of its organization only', async () => {
  const db = sqliteDatabase({ path: ':memory:' })
  const t = await started({ ports: { db }, upstream: [text('hi', day(3))] })
  await t.send()
  expect(await t.snapshots()).toHaveLength(1)
  const asStranger = (path: string, init?: RequestInit) =>
    t.gateway.control.fetch(new Request(`http://gateway.test${path}`, init), {
      address: null,
      local: true,
      secure: true,
      operator: { actor: 'u', orgId: 9, role: 'manage', readOnly: false, auth: 'token' },
    })
  expect(await (await asStranger('/api/quota')).json()).toEqual({ data: [] })
  const [{ id }] = (await db.all<{ id: number }>(sql`SELECT id FROM connections ORDER BY id`)) as [{ id: number }]
  const refresh = await asStranger('/api/quota/refresh', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ connection_id: id }),
  })
  expect(refresh.status).toBe(404)
})
