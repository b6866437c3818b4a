// /api/savings, and savings in usage and reports.
import { afterEach, describe, expect, it } from 'vitest'
import { sql } from '../../../core/db/sql.ts'
import { definePlugin } from '../../../core/plugins/define.ts'
import type { Booked } from '../../../plugins/savings/receipt.ts'
import { insertReceipt } from '../../../plugins/savings/store.ts'
import { testPostgres, whyNoPostgres } from '../../support/postgres.ts'
import { masterKey } from '../exact-cache/support.ts'
import { bearer, makeKey } from '../keys/support.ts'
import { booked, firstWrong, HOUR, NOW, type Receipt, type Site, site, used } from './support.ts'

const DAY = 86_400_000

let s: Site
afterEach(() => s.t.close())

const insert = async (...receipts: Partial<Booked>[]): Promise<void> => {
  for (const one of receipts) await s.db.run(insertReceipt(booked(one)).sql)
}

describe('the list', () => {
  it('is newest first, page by page, each receipt once, and nothing of it waits for its number', async () => {
    s = await site()
    await insert(...Array.from({ length: 7 }, (_, index) => ({ at: NOW - 10 + index })))
    const seen: number[] = []
    let cursor: string | null = ''
    while (cursor !== null) {
      const path: string = `/api/savings?limit=3${cursor === '' ? '' : `&cursor=${cursor}`}`
      const { body } = await s.get<{ data: Receipt[]; next_cursor: string | null }>(path)
      seen.push(...body.data.map(({ seq }) => seq))
      cursor = body.next_cursor
    }
    expect(seen).toEqual([7, 6, 5, 4, 3, 2, 1])
  })

  it('is narrowed by time, source and model', async () => {
    s = await site()
    await insert(
      { at: NOW - 3 * DAY, source: 'routing', provider: 'a', model: 'x' },
      { at: NOW - 2 * DAY, source: 'routing', provider: 'b', model: 'x' },
      { at: NOW - 1 * DAY, source: 'exact_cache', provider: 'a', model: 'y' },
    )
    const seqs = async (query: string) => (await s.receipts(query)).map(({ seq }) => seq)
    expect(await seqs('?source=routing')).toEqual([2, 1])
    expect(await seqs('?model=x')).toEqual([2, 1])
    expect(await seqs('?model=b/x')).toEqual([2])
    expect(await seqs(`?since=${new Date(NOW - 2 * DAY).toISOString()}`)).toEqual([3, 2])
    expect(await seqs('?until=2026-11-19')).toEqual([1])
    expect(await seqs('?source=semantic_cache')).toEqual([])
  })

  it.each([
    ['/api/savings?source=Exact-Cache', 'source'],
    ['/api/savings?since=yesterday', 'since'],
    ['/api/savings?limit=0', 'limit'],
    ['/api/savings?limit=201', 'limit'],
    ['/api/savings?cursor=x', 'cursor'],
    ['/api/savings/totals?window=1y', 'window'],
    ['/api/savings/totals?until=2026-01-01', 'until'],
    ['/api/savings/rollup?group_by=colour', 'group_by'],
    ['/api/savings/export?format=xml', 'format'],
    ['/api/savings/export?after_seq=-1', 'after_seq'],
  ])('%s is 400 and names `%s`', async (path, param) => {
    s = await site()
    const { status, body } = await s.get<{ error: { param: string } }>(path)
    expect([status, body.error.param]).toEqual([400, param])
  })
})

describe('sums', () => {
  const some = () =>
    insert(
      { at: NOW - 2 * DAY, usd_saved_nano: 1_000_000_001, key_id: 1, virtual_model: 'vm' },
      { at: NOW - 2 * DAY + 1, usd_saved_nano: 2, key_id: 2, source: 'routing', tokens_saved: 0 },
      { at: NOW - DAY, usd_saved_nano: -500, key_id: 1, source: 'prompt_cache', tokens_saved: 0, model: 'n' },
      { at: NOW - 40 * DAY, usd_saved_nano: 9_000_000_000 },
    )

  it('totals are those of the receipts in the window', async () => {
    s = await site()
    await some()
    const { body } = await s.get('/api/savings/totals?window=7d')
    expect(body).toMatchObject({ tokens_saved: 15, usd_saved: 0.999999503, receipts: 3 })
    const list = await s.receipts(`?since=${new Date(NOW - 7 * DAY).toISOString()}`)
    expect((body as { usd_saved: number }).usd_saved).toBe(list.reduce((nano, one) => nano + one.usd_saved_nano, 0) / 1e9)
  })

  it.each([
    ['source', ['exact_cache', 'routing', 'prompt_cache']],
    ['model', ['p/m', 'p/n']],
    ['key', ['1', '2']],
    ['virtual_model', ['vm', null]],
    ['day', ['2026-11-19', '2026-11-20']],
  ])('roll up by %s', async (by, keys) => {
    s = await site()
    await some()
    const { body } = await s.get<{ data: { key: string | null; usd_saved: number; receipts: number }[] }>(
      `/api/savings/rollup?window=7d&group_by=${by}`,
    )
    expect(body.data.map(({ key }) => key)).toEqual(keys)
    expect(body.data.reduce((count, { receipts }) => count + receipts, 0)).toBe(3)
    expect(Math.round(body.data.reduce((usd, { usd_saved }) => usd + usd_saved, 0) * 1e9)).toBe(999_999_503)
  })
})

describe('the export', () => {
  it('is checked without the gateway; an edited row is named by verify', async () => {
    s = await site({ env: HOUR, upstream: [used({ input: 20, output: 100 })] })
    for (let i = 0; i < 6; i++) await s.ask()
    const lines = (await s.text('/api/savings/export')).split('\n').slice(0, -1)
    expect(lines).toHaveLength(5)
    expect(firstWrong(lines)).toBeNull()
    expect((await s.get('/api/savings/verify')).body).toEqual({ ok: true, count: 5, first_bad_seq: null })
    await s.db.run(sql`UPDATE savings_receipts SET usd_saved_nano = usd_saved_nano + 1 WHERE seq = 3`)
    expect((await s.get('/api/savings/verify')).body).toEqual({ ok: false, count: 5, first_bad_seq: 3 })
    expect(firstWrong((await s.text('/api/savings/export')).split('\n').slice(0, -1))).toBe(3)
  })

  it('goes on behind a number, and says what it is', async () => {
    s = await site()
    await insert({}, {}, {})
    const response = await s.t.fetch('/api/savings/export?after_seq=2')
    expect(response.headers.get('content-type')).toBe('application/x-ndjson')
    expect(response.headers.get('content-disposition')).toBe('attachment; filename="savings.jsonl"')
    expect((await response.text()).split('\n')).toEqual([expect.stringContaining('"seq":3'), ''])
    const csv = await s.t.fetch('/api/savings/export?format=csv')
    expect(csv.headers.get('content-type')).toBe('text/csv; charset=utf-8')
    expect((await csv.text()).split('\r\n')).toHaveLength(5)
  })

  it('of a long chain comes in pieces, and is whole', async () => {
    s = await site()
    await s.db.tx(async (tx) => {
      for (let i = 0; i < 1200; i++) await tx.run(insertReceipt(booked({ at: NOW + i })).sql)
    })
    const response = await s.t.fetch('/api/savings/export')
    let pieces = 0
    let content = ''
    for await (const piece of response.body as unknown as AsyncIterable<Uint8Array>) {
      pieces++
      content += new TextDecoder().decode(piece)
    }
    expect(pieces).toBeGreaterThan(5)
    expect(firstWrong(content.split('\n').slice(0, -1))).toBeNull()
    expect(content.split('\n')).toHaveLength(1201)
  })
})

it('an organization sees its own receipts, sums and chain only', async () => {
  s = await site()
  await insert({ org_id: 1, usd_saved_nano: 10 }, { org_id: 2, usd_saved_nano: 300 }, { org_id: 2, usd_saved_nano: 5 })
  await s.clock.advance(1)
  const seen = async (org: string) => {
    const headers = { 'x-org': org }
    const list = await s.get<{ data: Receipt[] }>('/api/savings', headers)
    const lines = await (await s.t.fetch('/api/savings/export', { headers })).text()
    return {
      nanos: list.body.data.map(({ usd_saved_nano }) => usd_saved_nano),
      seqs: lines.split('\n').flatMap((line) => (line === '' ? [] : [(JSON.parse(line) as Receipt).seq])),
      totals: (await s.get<{ usd_saved: number }>('/api/savings/totals', headers)).body.usd_saved,
      rollup: (await s.get<{ data: { receipts: number }[] }>('/api/savings/rollup', headers)).body.data.map(
        (one) => one.receipts,
      ),
      verify: (await s.get('/api/savings/verify', headers)).body,
      usage: (await s.get<{ totals: { usd_saved: number } }>('/api/usage', headers)).body.totals.usd_saved,
    }
  }
  expect(await seen('1')).toEqual({
    ...{ nanos: [10], seqs: [1], totals: 1e-8, rollup: [1], usage: 1e-8, verify: { ok: true, count: 1, first_bad_seq: null } },
  })
  const second = await seen('2')
  expect(second).toMatchObject({ seqs: [1, 2], totals: 3.05e-7, rollup: [2], usage: 3.05e-7 })
  expect([...second.nanos].sort((a, b) => a - b)).toEqual([5, 300])
  await s.db.run(sql`UPDATE savings_receipts SET tokens_saved = 99 WHERE org_id = 2 AND seq = 1`)
  expect((await seen('1')).verify).toMatchObject({ ok: true })
  expect((await seen('2')).verify).toEqual({ ok: false, count: 2, first_bad_seq: 1 })
  expect(await seen('3')).toMatchObject({ nanos: [], seqs: [], totals: 0, verify: { ok: true, count: 0 } })
})

describe('usage', () => {
  it('and reports say what was saved, to the nano, in the rows it was saved on', async () => {
    const upstream = [
      used({ input: 20, output: 100 }),
      used({ input: 1000, output: 10, cacheRead: 0, cacheWrite: 900 }),
      used({ input: 1000, output: 10, cacheRead: 900 }),
    ]
    s = await site({ env: HOUR, upstream })
    const [one, two] = [await makeKey(s.t, { label: 'one' }), await makeKey(s.t, { label: 'two' })]
    await s.ask({}, bearer(one.key))
    await s.ask({}, bearer(one.key))
    await s.ask({}, bearer(one.key))
    await s.ask({ model: 'messages/cheap' }, bearer(two.key))
    await s.ask({ model: 'messages/dear' }, { ...bearer(two.key), 'x-gateway-user-id': 'u' })
    const [hits, loss, gain] = [2 * 420_000, -900 * 250, 900 * 9000]
    const { usd_saved } = await s.totals()
    expect(usd_saved).toBe((hits + loss + gain) / 1e9)
    const usage = await s.get<{ totals: { usd_saved: number } }>('/api/usage')
    expect(usage.body.totals.usd_saved).toBe(usd_saved)
    type Report = { data: Record<string, unknown>[]; totals: { usd_saved: number } }
    const report = async (by: string) => (await s.get<Report>(`/api/reports?window=7d&group_by=${by}`)).body
    expect((await report('key')).data).toMatchObject([
      { key: 'one', requests: 3, usd_saved: hits / 1e9 },
      { key: 'two', requests: 2, usd_saved: (loss + gain) / 1e9 },
    ])
    expect((await report('source')).data).toMatchObject([
      { source: 'api', usd_saved: (loss + gain) / 1e9 },
      { source: 'cache', usd_saved: hits / 1e9 },
    ])
    expect((await report('user,model')).data).toMatchObject([
      { user: null, model: 'cheap', usd_saved: (hits + loss) / 1e9 },
      { user: 'u', model: 'dear', usd_saved: gain / 1e9 },
    ])
    for (const by of ['org', 'key,model', 'provider,day', 'month,virtual_model', 'cost_center', ''])
      expect((await report(by)).totals.usd_saved, by).toBe(usd_saved)
  })

  it('of more groups than are asked for at once has each with its own', async () => {
    s = await site()
    await s.db.run(
      sql`WITH RECURSIVE n (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 4999)
          INSERT INTO ledger_usage (request_id, step, at, user_id, source, operation, provider, model, requested_model, stream, status,
            latency_ms) SELECT 'r' || i, 0, ${NOW - DAY}, 'u' || i, 'api', 'chat', 'p', 'm', 'p/m', 0, 200, 5 FROM n`,
    )
    await insert({ at: NOW - DAY, user_id: 'u7', usd_saved_nano: 7 }, { at: NOW - DAY, user_id: 'u4999', usd_saved_nano: 11 })
    type Report = { data: { user: string; usd_saved: number }[]; totals: { usd_saved: number } }
    const { body } = await s.get<Report>('/api/reports?window=7d&group_by=user')
    expect(body.data).toHaveLength(5000)
    const saved = body.data.filter(({ usd_saved }) => usd_saved !== 0)
    expect(saved.map(({ user, usd_saved }) => [user, usd_saved]).sort()).toEqual([
      ['u4999', 1.1e-8],
      ['u7', 7e-9],
    ])
    expect(body.totals.usd_saved).toBe(1.8e-8)
  })
})

describe('in the background', () => {
  it('receipts get their place without anybody asking', async () => {
    s = await site()
    await insert({}, { org_id: 4 })
    await s.clock.advance('11s')
    const rows = await s.db.all(sql`SELECT org_id, seq FROM savings_receipts ORDER BY org_id`)
    expect(rows).toEqual([
      { org_id: 0, seq: 1 },
      { org_id: 4, seq: 1 },
    ])
  })

  it('old ones go with USAGE_RETENTION_DAYS, and verify still holds', async () => {
    s = await site({ env: { USAGE_RETENTION_DAYS: '5' } })
    await insert({ at: NOW - 7 * DAY }, { at: NOW - 6 * DAY }, { at: NOW - 1 * DAY })
    await s.receipts()
    await s.clock.advance('70m')
    expect((await s.receipts()).map(({ seq }) => seq)).toEqual([3])
    expect((await s.get('/api/savings/verify')).body).toEqual({ ok: true, count: 1, first_bad_seq: null })
  })
})

const missing = await whyNoPostgres()
it.skipIf(missing !== null)(
  `two gateways on one PostgreSQL make one unbroken chain${missing === null ? '' : ` (${missing})`}`,
  { timeout: 60_000 },
  async () => {
    const server = await testPostgres()
    const claims = definePlugin({
      name: 'test-claims',
      requires: ['savings'],
      setup(gateway) {
        const { claim } = gateway.use('savings')
        gateway.hook('request', (ctx) => claim(ctx, { source: 'mine', method: 'measured', tokensBefore: 2, tokensAfter: 1 }))
      },
    })
    const upstream = Array.from({ length: 30 }, () => used({ input: 20, output: 1 }))
    const options = { env: { DATABASE_URL: server.url, MASTER_KEY: masterKey() }, plugins: [claims()], upstream }
    s = await site(options)
    const other = await site(options)
    try {
      const busy = async (mine: Site) => {
        for (let i = 0; i < 15; i++) {
          await mine.ask()
          const { body } = await mine.get<{ ok: boolean }>('/api/savings/verify')
          expect(body.ok).toBe(true)
        }
      }
      await Promise.all([busy(s), busy(other)])
      await expect.poll(async () => (await s.receipts('?limit=200')).length, { timeout: 20_000 }).toBe(30)
      const lines = (await other.text('/api/savings/export')).split('\n').slice(0, -1)
      expect(lines).toHaveLength(30)
      expect(firstWrong(lines)).toBeNull()
    } finally {
      await other.t.close()
      await s.t.close()
      await server.drop()
    }
  },
)
