// /api/reports: exact to the nano, in three formats, on both engines, in bounded memory.
import { tableFromIPC } from 'apache-arrow'
import fc from 'fast-check'
import { readParquet } from 'parquet-wasm/node'
import { afterEach, describe, expect, it } from 'vitest'
import { fakeClock } from '../../../adapters/testing/fake-clock.ts'
import { sql } from '../../../core/db/sql.ts'
import { migrations } from '../../../plugins/ledger/migrations.ts'
import { GROUPS, type UsageGroup, type UsageRow } from '../../../plugins/ledger/service.ts'
import { usageReader } from '../../../plugins/ledger/usage-reader.ts'
import { insertRows } from '../../../plugins/ledger/usage-rows.ts'
import { usdText } from '../../../plugins/usage/reports/columns.ts'
import { ENGINES } from '../../support/engines.ts'
import { row, type UsageSite, usageSite } from './support.ts'

const NOW = Date.UTC(2026, 5, 15, 12)
const DAY = 86_400_000
const RANGE = 'since=2026-01-01&until=2026-06-16'

let s: UsageSite | null = null
afterEach(async () => {
  await s?.t.close()
  s = null
})
const open = async () => {
  s = await usageSite({ ports: { clock: fakeClock(NOW) } })
  return s
}

const rows = fc.array(
  fc.record({
    at: fc.integer({ min: NOW - 160 * DAY, max: NOW }),
    provider: fc.constantFrom('a', 'b', null),
    model: fc.constantFrom('x', 'y', 'é "q", z'),
    key: fc.constantFrom(1, 2, null),
    virtualModel: fc.constantFrom('vm', null),
    userId: fc.constantFrom('u', null),
    step: fc.constantFrom(0, 0, 0, 1),
    estimated: fc.boolean(),
    interrupted: fc.boolean(),
    status: fc.constantFrom(200, 200, 429, 502),
    costNano: fc.option(fc.integer({ min: 0, max: 9_000_000_000 })),
  }),
  { maxLength: 60 },
)

const VALUE: Readonly<Record<UsageGroup, (row: UsageRow) => string | null>> = {
  org: () => null,
  key: (row) => (row.keyId === null ? null : (row.keyLabel as string)),
  cost_center: (row) => row.costCenter,
  user: (row) => row.userId,
  provider: (row) => row.provider,
  model: (row) => row.model,
  virtual_model: (row) => row.virtualModel,
  day: (row) => new Date(row.at).toISOString().slice(0, 10),
  month: (row) => new Date(row.at).toISOString().slice(0, 7),
  source: (row) => row.source,
}

type Sums = readonly [requests: number, cost: bigint, estimated: bigint, interrupted: number]
const NOTHING: Sums = [0, 0n, 0n, 0]

describe.each(ENGINES)('$name', ({ missing, with: withEngine }) => {
  it.skipIf(missing !== null)('sums by any columns equal the sums of the rows, to the nano', { timeout: 120_000 }, () =>
    withEngine('ledger', migrations, async (db) => {
      const { sums } = usageReader(db)
      const property = fc.asyncProperty(rows, fc.uniqueArray(fc.constantFrom(...GROUPS), { maxLength: 4 }), async (given, by) => {
        await db.run(sql`DELETE FROM ledger_usage`)
        const stored = given.map(({ key, costNano, ...rest }) =>
          row({ ...rest, keyId: key, keyLabel: key === null ? null : `key ${key}`, costNano, chargeNano: costNano }),
        )
        if (stored.length > 0) await db.run(insertRows(stored).sql)
        const expected = new Map<string, Sums>()
        for (const one of stored) {
          const group = JSON.stringify(by.map((name) => VALUE[name](one)))
          const [requests, cost, estimated, interrupted] = expected.get(group) ?? NOTHING
          const nano = BigInt(one.costNano ?? 0)
          const sum = [requests + (one.step === 0 ? 1 : 0), cost + nano, estimated + (one.estimated ? nano : 0n)] as const
          expected.set(group, [...sum, interrupted + (one.step === 0 && one.interrupted ? 1 : 0)])
        }
        if (by.length === 0 && stored.length === 0) expected.set('[]', NOTHING)
        const found = new Map<string, Sums>()
        for await (const sum of sums({ since: 0, until: NOW + 1, orgId: null }, by))
          found.set(JSON.stringify(sum.group), [
            sum.requests,
            BigInt(sum.costNano),
            BigInt(sum.estimated.costNano),
            sum.interrupted,
          ])
        expect(found).toEqual(expected)
      })
      await fc.assert(property, { numRuns: 150, seed: 7 })
    }),
  )

  it.skipIf(missing !== null)('more groups than a page are all there, each once, in order', { timeout: 120_000 }, () =>
    withEngine('ledger', migrations, async (db) => {
      const many = Array.from({ length: 25_000 }, (_, i) => row({ at: NOW - i, userId: `user ${i}`, costNano: i }))
      for (let at = 0; at < many.length; at += 500) await db.run(insertRows(many.slice(at, at + 500)).sql)
      const seen: string[] = []
      let cost = 0
      for await (const { group, costNano } of usageReader(db).sums({ since: 0, until: NOW + 1 }, ['user', 'model'])) {
        seen.push(group[0] as string)
        cost += costNano
      }
      expect(new Set(seen).size).toBe(25_000)
      expect(seen).toHaveLength(25_000)
      expect(cost).toBe((25_000 * 24_999) / 2)
    }),
  )
})

describe('the formats', () => {
  const stored = [
    row({ at: NOW - DAY, keyLabel: '=1+1', model: 'a,b', costNano: 1, chargeNano: 1, userId: 'é' }),
    row({ at: NOW - DAY, keyLabel: '=1+1', model: 'a,b', costNano: 2_000_000_001, chargeNano: 2_000_000_001, estimated: true }),
    row({
      ...{ at: NOW - 40 * DAY, keyId: 2, keyLabel: 'say "hi"', model: null, costNano: null, chargeNano: null, status: 502 },
      ...{ estimated: true, interrupted: true },
    }),
  ]

  it('JSON has rows and totals', async () => {
    const { insert, get } = await open()
    await insert(stored)
    expect((await get(`/api/reports?${RANGE}&group_by=key,month`)).body).toMatchObject({
      ...{ since: '2026-01-01T00:00:00.000Z', until: '2026-06-16T00:00:00.000Z', group_by: ['key', 'month'] },
      data: [
        { key: '=1+1', month: '2026-06', requests: 2, errors: 0, prompt_tokens: 20, total_tokens: 30, cost_usd: 2.000000002 },
        { key: 'say "hi"', month: '2026-05', requests: 1, errors: 1, cost_usd: 0, media_units: 0, interrupted_requests: 1 },
      ],
      totals: {
        ...{ requests: 3, errors: 1, cost_usd: 2.000000002, charge_usd: 2.000000002, total_tokens: 45 },
        ...{ estimated_tokens: 30, estimated_cost_usd: 2.000000001, estimated_charge_usd: 2.000000001, interrupted_requests: 1 },
      },
    })
  })

  it('CSV follows RFC 4180, and no cell is a formula', async () => {
    const { insert, text } = await open()
    await insert(stored)
    const response = await text(`/api/reports?${RANGE}&group_by=key,model`, { accept: 'text/csv' })
    expect(response.headers.get('content-type')).toBe('text/csv; charset=utf-8')
    expect(response.headers.get('content-disposition')).toBe('attachment; filename="report-2026-01-01-2026-06-16.csv"')
    expect(await response.text()).toBe(
      [
        'key,model,requests,errors,prompt_tokens,completion_tokens,cache_read_tokens,cache_write_tokens,reasoning_tokens,total_tokens,cost_usd,charge_usd,usd_saved,media_units,estimated_tokens,estimated_cost_usd,estimated_charge_usd,interrupted_requests',
        `'=1+1,"a,b",2,0,20,10,2,4,6,30,2.000000002,2.000000002,0,0,15,2.000000001,2.000000001,0`,
        '"say ""hi""",,1,1,10,5,1,2,3,15,0,0,0,0,15,0,0,1',
        '',
      ].join('\r\n'),
    )
  })

  it('`Accept` says by its weights which one', async () => {
    const { text } = await open()
    const typeFor = async (accept: string) => (await text(`/api/reports?${RANGE}`, { accept })).headers.get('content-type')
    for (const accept of ['application/json, text/csv;q=0.5', 'text/csv;q=0, */*'])
      expect(await typeFor(accept)).toBe('application/json')
    expect(await typeFor('text/html, text/csv')).toBe('text/csv; charset=utf-8')
  })

  it('Parquet is read back by another implementation, types and nulls included', async () => {
    const { insert, text } = await open()
    await insert(stored)
    const response = await text(`/api/reports?${RANGE}&group_by=key,model&format=parquet`)
    expect(response.headers.get('content-disposition')).toBe('attachment; filename="report-2026-01-01-2026-06-16.parquet"')
    const table = tableFromIPC(readParquet(new Uint8Array(await response.arrayBuffer())).intoIPCStream())
    const types = Object.fromEntries(table.schema.fields.map(({ name, type }) => [name, String(type)]))
    expect(types).toMatchObject({ key: 'Utf8', model: 'Utf8', requests: 'Int64', cost_usd: 'Float64' })
    expect(table.toArray().map((line) => ({ ...line.toJSON() }))).toMatchObject([
      {
        ...{ key: '=1+1', model: 'a,b', requests: 2n, errors: 0n, total_tokens: 30n, cost_usd: 2.000000002 },
        ...{ estimated_tokens: 15n, estimated_cost_usd: 2.000000001, interrupted_requests: 0n },
      },
      { key: 'say "hi"', model: null, requests: 1n, errors: 1n, cost_usd: 0 },
    ])
  })

  it.each(['json', 'csv', 'parquet'])('a window without rows is an empty report: %s', async (format) => {
    const { text } = await open()
    const response = await text(`/api/reports?${RANGE}&format=${format}`)
    expect(response.status).toBe(200)
    const bytes = new Uint8Array(await response.arrayBuffer())
    if (format === 'json')
      expect(JSON.parse(new TextDecoder().decode(bytes))).toMatchObject({ data: [], totals: { requests: 0 } })
    if (format === 'csv') expect(new TextDecoder().decode(bytes).split('\r\n')).toHaveLength(2)
    if (format === 'parquet') expect(tableFromIPC(readParquet(bytes).intoIPCStream()).numRows).toBe(0)
  })

  it.each([
    ['group_by=key,colour', 'group_by'],
    ['group_by=key,key', 'group_by'],
    ['format=xlsx', 'format'],
  ])('%s is 400 and names `%s`', async (query, param) => {
    const { get } = await open()
    const { status, body } = await get<{ error: { param: string } }>(`/api/reports?${query}`)
    expect([status, body.error.param]).toEqual([400, param])
  })

  it.each(['json', 'csv', 'parquet'])('%s says also what is more than nine million dollars', async (format) => {
    const { insert, text } = await open()
    const much = { at: NOW - DAY, costNano: Number.MAX_SAFE_INTEGER, chargeNano: Number.MAX_SAFE_INTEGER }
    await insert([
      row(much),
      row(much),
      row({ ...much, tokens: { ...row(much).tokens, input: Number.MAX_SAFE_INTEGER } }),
      row(much),
    ])
    const response = await text(`/api/reports?${RANGE}&group_by=month&format=${format}`)
    const bytes = new Uint8Array(await response.arrayBuffer())
    if (format === 'json') expect(JSON.parse(new TextDecoder().decode(bytes)).totals.cost_usd).toBeCloseTo(36_028_797.018964, 3)
    if (format === 'csv') expect(new TextDecoder().decode(bytes)).toMatch(/^2026-06,4,0,\d+,20,.*,36028797\.01896/m)
    if (format === 'parquet') expect(new TextDecoder('latin1').decode(bytes)).toMatch(/^PAR1.*PAR1$/s)
  })

  it('money is written to the nano and without an exponent', () => {
    expect([0, 1, 10, 1e9, 1_500_000_000, 123_456_789_012, -1].map(usdText)).toEqual([
      ...['0', '0.000000001', '0.00000001', '1', '1.5', '123.456789012', '-0.000000001'],
    ])
  })
})

it('requests are served while many rows are summed, each of them once, also where many are of one millisecond', async () => {
  const { db, text } = await open()
  // Of the 12,000 the second half are of one millisecond, and every third has another label by then.
  await db.run(
    sql`WITH RECURSIVE n (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 11999)
        INSERT INTO ledger_usage (request_id, step, at, key_id, key_label, source, operation, provider, model, requested_model, stream,
          status, latency_ms, input_tokens, output_tokens, estimated, cost_nano, charge_nano)
        SELECT 'r' || i, i % 2, ${NOW - 2 * DAY} + min(i, 6000) * 10000, i % 3, CASE WHEN i < 6000 THEN 'a' ELSE 'b' END, 'api', 'chat', 'p',
          'm', 'p/m', 0, CASE WHEN i % 5 = 0 THEN 500 ELSE 200 END, 5, i, 4, i % 7 = 0, i, i FROM n`,
  )
  let turns = 0
  let over = false
  const turn = () => {
    turns++
    if (!over) setImmediate(turn)
  }
  setImmediate(turn)
  const { data, totals } = (await (await text(`/api/reports?${RANGE}&group_by=key,day`)).json()) as {
    data: Record<string, unknown>[]
    totals: Record<string, number>
  }
  over = true
  expect(turns).toBeGreaterThan(2)
  expect(totals).toMatchObject({ requests: 6000, prompt_tokens: (11_999 * 12_000) / 2, completion_tokens: 48_000 })
  expect(totals.cost_usd).toBe((11_999 * 12_000) / 2 / 1e9)
  const direct = await db.all<Record<string, number>>(
    sql`SELECT SUM(step = 0) AS requests, SUM(step = 0 AND status >= 400) AS errors, SUM(input_tokens) AS prompt_tokens,
          SUM(CASE WHEN estimated = 1 THEN input_tokens + output_tokens ELSE 0 END) AS estimated_tokens, MAX(key_label) AS "key"
        FROM ledger_usage GROUP BY key_id, at / 86400000 ORDER BY key_id, at / 86400000`,
  )
  expect(
    data.map(({ requests, errors, prompt_tokens, estimated_tokens, key }) => {
      return { requests, errors, prompt_tokens, estimated_tokens, key }
    }),
  ).toEqual(direct)
})

describe('a million rows', () => {
  const COUNT = 1_000_000

  it('are summed to the nano, and read in pages that do not grow with them', { timeout: 120_000 }, async () => {
    const { db, text } = await open()
    // Costs i * 7919 mod 1e6, over 1,000 users: made by the database, summed here.
    await db.run(
      sql`WITH RECURSIVE n (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < ${COUNT - 1})
          INSERT INTO ledger_usage (request_id, step, at, user_id, source, operation, provider, model, requested_model, stream, status,
            latency_ms, input_tokens, output_tokens, cost_nano, charge_nano)
          SELECT 'r' || i, 0, ${NOW - DAY} - i, 'u' || (i % 1000), 'api', 'chat', 'p', 'm' || (i % 7), 'p/m', 0, 200, 5, 3, 4,
            (i * 7919) % 1000000, (i * 7919) % 1000000 FROM n`,
    )
    let expected = 0n
    for (let i = 0; i < COUNT; i++) expected += BigInt((i * 7919) % 1_000_000)
    const before = process.memoryUsage().heapUsed
    let most = before
    const response = await text(`/api/reports?${RANGE}&group_by=user,model&format=csv`)
    let tail = ''
    let sum = 0n
    let lines = 0
    const header = 16
    for await (const chunk of response.body as unknown as AsyncIterable<Uint8Array>) {
      most = Math.max(most, process.memoryUsage().heapUsed)
      const parts = (tail + new TextDecoder().decode(chunk)).split('\r\n')
      tail = parts.pop() as string
      for (const line of parts) {
        if (lines++ === 0) continue
        const cells = line.split(',')
        expect(cells).toHaveLength(2 + header)
        const [whole, fraction = ''] = (cells[10] as string).split('.')
        sum += BigInt(whole as string) * 1_000_000_000n + BigInt(fraction.padEnd(9, '0'))
      }
    }
    expect(lines - 1).toBe(7000)
    expect(sum).toBe(expected)
    // A million rows would be hundreds of megabytes; what nobody has collected yet is some tens.
    expect((most - before) / 1e6).toBeLessThan(120)
  })
})
