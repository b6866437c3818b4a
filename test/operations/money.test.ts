// The bill of operations: what usage rows say is what the scripted vendors charged, to the nano-dollar.
import { afterEach, describe, expect, it } from 'vitest'
import { sql } from '../../core/db/sql.ts'
import { bearer, makeKey } from '../plugins/keys/support.ts'
import { type Vendors, vendors } from './support.ts'

let v: Vendors
afterEach(() => v.close())

/** USD: for 1M tokens, and for one unit. Prime numbers, so that no sum is right by accident. */
const PRICES = [
  { model: 'openai/e', input: 0.131 },
  { model: 'openai/gpt-3.5-turbo-instruct', input: 1.009, output: 2.003 },
  { model: 'openai/c', input: 3.001, output: 5.003 },
  { model: 'openai/i', per_image_usd: 0.040009 },
  { model: 'cohere/r', per_query_usd: 0.002003 },
  { model: 'mistral/o', per_page_usd: 0.001009 },
  { model: 'tavily/search', per_query_usd: 0.008011 },
]

async function start(): Promise<void> {
  v = await vendors(['openai', 'cohere', 'mistral', 'tavily'], { env: { PRICING_SYNC_ENABLED: 'false' } })
  const response = await v.t.fetch('/api/pricing/overrides', {
    method: 'PUT',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ data: PRICES }),
  })
  expect(response.status, await response.clone().text()).toBe(200)
}

/** A small generator, so that the day is the same in every run. */
function seeded(seed: number): (below: number) => number {
  let state = seed
  return (below) => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648
    return state % below
  }
}

const nano = (usd: number) => Math.round(usd * 1e9)

it('a day of mixed operations: rows, sums and reports agree with the vendors', async () => {
  await start()
  const pick = seeded(17)
  let expected = 0
  let units = 0
  const calls = Array.from({ length: 2000 }, () => {
    const kind = pick(7)
    const size = 1 + pick(40)
    if (kind === 0) {
      expected += Math.ceil((size * nano(0.131)) / 1e6)
      return ['/v1/embeddings', { model: 'openai/e', input: 'x'.repeat(size) }] as const
    }
    // The scripted vendor reads 7 and writes 3 tokens for each prompt, and 50 and 10 for a compaction.
    const tokens = (input: number, output: number, rates: [number, number]) =>
      Math.ceil((input * nano(rates[0]) + output * nano(rates[1])) / 1e6)
    if (kind === 4) {
      expected += tokens(7 * size, 3 * size, [1.009, 2.003])
      return [
        '/v1/completions',
        { model: 'openai/gpt-3.5-turbo-instruct', prompt: Array.from({ length: size }, () => 'p'), stream: size % 2 === 0 },
      ] as const
    }
    if (kind === 5) {
      expected += tokens(50, 10, [3.001, 5.003])
      return ['/v1/responses/compact', { model: 'openai/c', input: 'a text' }] as const
    }
    if (kind === 6) {
      const n = 1 + (size % 4)
      units += n
      expected += n * nano(0.040009)
      return ['/v1/images/generations', { model: 'openai/i', prompt: 'a cat', n }] as const
    }
    units += kind === 2 ? size : 1
    if (kind === 1) {
      expected += nano(0.002003)
      return ['/v1/rerank', { model: 'cohere/r', query: 'q', documents: Array.from({ length: size }, () => 'd') }] as const
    }
    if (kind === 2) {
      expected += size * nano(0.001009)
      const document = { type: 'document_url', document_url: 'https://example.com/a.pdf' }
      return ['/v1/ocr', { model: 'mistral/o', document, pages: Array.from({ length: size }, (_, at) => at) }] as const
    }
    expected += nano(0.008011)
    return ['/v1/search', { model: 'tavily/search', query: 'q' }] as const
  })
  for (let from = 0; from < calls.length; from += 40)
    await Promise.all(
      calls.slice(from, from + 40).map(async ([path, body]) => {
        const response = await v.t.post(path, body)
        expect(response.status, await response.text()).toBe(200)
      }),
    )
  await v.t.untilCommitted(calls.length)
  const [row] = (await v.t.gateway.db?.all<{ cost: number; rows: number; units: number; unknown: number }>(
    sql`SELECT SUM(cost_nano) AS cost, COUNT(*) AS rows, SUM(media_units) AS units, SUM(CASE WHEN cost_nano IS NULL THEN 1 ELSE 0 END) AS unknown FROM ledger_usage`,
  )) as [{ cost: number; rows: number; units: number; unknown: number }]
  expect(row).toEqual({ cost: expected, rows: calls.length, units, unknown: 0 })
  const usage = (await (await v.t.fetch('/api/usage?window=24h')).json()) as Record<string, unknown>
  expect(JSON.stringify(usage)).toContain(`${expected / 1e9}`)
})

describe('a budget', () => {
  it('of 20 searches serves 20 of 200 at once, and is never overspent', async () => {
    await start()
    const { key, id } = (await makeKey(v.t)) as { key: string; id: number }
    const made = await v.t.post('/api/budgets', {
      scope: 'key',
      entity_id: id,
      window: 'daily',
      hard_limit_usd: 0.008011 * 20,
    })
    expect(made.status, await made.clone().text()).toBeLessThan(300)
    const answers = await Promise.all(
      Array.from({ length: 200 }, async () => {
        const response = await v.t.post('/v1/search', { model: 'tavily/search', query: 'q' }, bearer(key))
        await response.arrayBuffer()
        return response.status
      }),
    )
    expect(answers.filter((status) => status === 200)).toHaveLength(20)
    expect(answers.filter((status) => status === 402)).toHaveLength(180)
    expect(v.vendor.requests).toHaveLength(20)
    await v.t.untilCommitted(200)
    const [row] = (await v.t.gateway.db?.all<{ cost: number }>(sql`SELECT SUM(cost_nano) AS cost FROM ledger_usage`)) as [
      { cost: number },
    ]
    expect(row.cost).toBe(20 * nano(0.008011))
  })

  it('of zero refuses every operation before it is sent', async () => {
    await start()
    const { key, id } = (await makeKey(v.t)) as { key: string; id: number }
    await v.t.post('/api/budgets', { scope: 'key', entity_id: id, window: 'daily', hard_limit_usd: 0 })
    const document = { type: 'document_url', document_url: 'https://example.com/a.pdf' }
    for (const [path, body] of [
      ['/v1/embeddings', { model: 'openai/e', input: 'x' }],
      ['/v1/rerank', { model: 'cohere/r', query: 'q', documents: ['a'] }],
      ['/v1/ocr', { model: 'mistral/o', document }],
      ['/v1/search', { model: 'tavily/search', query: 'q' }],
      ['/v1/moderations', { model: 'openai/m', input: 'q' }],
    ] as const)
      expect((await v.t.post(path, body, bearer(key))).status, path).toBe(402)
    expect(v.vendor.requests).toHaveLength(0)
  })
})

it('a price that nobody knows costs null, and is served', async () => {
  await start()
  expect((await v.t.post('/v1/search', { model: 'tavily/other', query: 'q' })).status).toBe(200)
  await v.t.untilCommitted(1)
  const [row] = (await v.t.gateway.db?.all<{ cost_nano: number | null }>(sql`SELECT cost_nano FROM ledger_usage`)) as [
    { cost_nano: number | null },
  ]
  expect(row.cost_nano === null || row.cost_nano === 0).toBe(true)
})
