// Booked savings: one receipt for each request and source, exact to the nano; none for other requests.
import { afterEach, describe, expect, it } from 'vitest'
import { fail } from '../../../adapters/testing/script.ts'
import { sql } from '../../../core/db/sql.ts'
import { definePlugin } from '../../../core/plugins/define.ts'
import type { Claim } from '../../../plugins/savings/service.ts'
import { site as semanticSite, turns } from '../semantic-cache/support.ts'
import { OUTPUTS } from '../token-saver/outputs.ts'
import { HOUR, type Receipt, type Site, site, used, written } from './support.ts'

let s: Site
afterEach(() => s?.t.close())

const booked = async () => (await s.db.get<{ n: number }>(sql`SELECT COUNT(*) AS n FROM savings_receipts`))?.n

it('a request that saved nothing writes nothing', async () => {
  s = await site({ upstream: [used({ input: 20, output: 100 }), fail(400)] })
  expect(await s.ask()).toBe(200)
  expect(await s.ask()).toBe(400)
  expect(await booked()).toBe(0)
})

describe('a cache hit', () => {
  it('writes exactly one receipt whose usd is the stored call’s cost', async () => {
    s = await site({ env: HOUR, upstream: [used({ input: 20, output: 100 })] })
    await s.ask()
    await s.ask()
    const [miss, hit] = s.t.settled
    expect(miss?.outcome.costNano).toBe(20 * 1000 + 100 * 4000)
    expect(await s.receipts()).toEqual([
      expect.objectContaining({
        ...{ seq: 1, source: 'exact_cache', method: 'measured', request_id: hit?.ctx.id, org_id: null, provider: 'chat' },
        ...{ model: 'cheap', tokens_before: 120, tokens_after: 0, tokens_saved: 120, usage_source: 'cache' },
        ...{ usd_saved_nano: 420_000, usd_saved: 0.00042, at: new Date(s.clock.now()).toISOString() },
        price_ref: {
          ...{ source: 'override', ref: 'override', input_per_1m: 1, output_per_1m: 4 },
          ...{ cache_read_per_1m: 0.1, cache_write_per_1m: 1.25 },
        },
        details: expect.objectContaining({ stored_request_id: miss?.ctx.id, input_tokens: 20, output_tokens: 100 }),
      }),
    ])
  })

  it('counts at the price of now when the price was changed meanwhile', async () => {
    s = await site({ env: HOUR, upstream: [used({ input: 20, output: 100 })] })
    await s.ask()
    await s.api('PUT', '/api/pricing/overrides', { data: [{ model: '*/cheap', input: 2, output: 8 }] })
    await s.ask()
    expect(await s.receipts()).toMatchObject([{ usd_saved_nano: 840_000, price_ref: { input_per_1m: 2, output_per_1m: 8 } }])
  })

  it('of a model that runs here and costs nothing saves tokens and no money', async () => {
    s = await site({ env: HOUR, upstream: [used({ input: 20, output: 100 })] })
    await s.ask({ model: 'chat/unpriced' })
    await s.ask({ model: 'chat/unpriced' })
    expect(await s.receipts()).toMatchObject([{ tokens_saved: 120, usd_saved_nano: 0, price_ref: { ref: 'builtin' } }])
  })
})

it('an answer to a similar question is a saving of the semantic cache', async () => {
  const upstream = [used({ input: 20, output: 100 })]
  const { t, close } = await semanticSite({ upstream, env: { PRICING_SYNC_ENABLED: 'false' } })
  const headers = { 'content-type': 'application/json' }
  const data = [{ model: 'chat/cheap', input: 1, output: 4 }]
  await t.fetch('/api/pricing/overrides', { method: 'PUT', headers, body: JSON.stringify({ data }) })
  for (const [index, content] of ['q', 'q 0.99'].entries()) {
    const sent = await t.post('/v1/chat/completions', { model: 'chat/cheap', messages: [{ role: 'user', content }] })
    await sent.arrayBuffer()
    expect(sent.headers.get('x-gateway-cache')).toBe(index === 0 ? 'miss' : 'hit')
    await turns()
  }
  await written()
  const { data: receipts } = (await (await t.fetch('/api/savings')).json()) as { data: Receipt[] }
  expect(receipts).toMatchObject([
    { source: 'semantic_cache', tokens_saved: 120, usd_saved_nano: 420_000, usage_source: 'cache' },
  ])
  await close()
})

describe('a prompt cache', () => {
  it('saves what its reads would have cost more as plain input', async () => {
    s = await site({ upstream: [used({ input: 1000, output: 10, cacheRead: 800 })] })
    await s.ask({ model: 'messages/cheap' })
    expect(await s.receipts()).toMatchObject([
      {
        ...{ source: 'prompt_cache', method: 'measured', tokens_saved: 0, tokens_before: 1000, usd_saved_nano: 800 * 900 },
        details: { steps: [{ cache_read_tokens: 800, cache_write_tokens: 0, usd_saved_nano: 720_000 }] },
      },
    ])
  })

  it('of several models in one request is one receipt, in a row that the reports have', async () => {
    const answers = [0, 1, 2].map(() => used({ input: 1000, output: 10, cacheRead: 800 }))
    s = await site({ upstream: answers })
    const targets = ['messages/cheap', 'messages/dear']
    const made = await s.api('POST', '/api/virtual-models', { name: 'vm', strategy: 'fusion', targets })
    expect(made.status).toBe(201)
    expect(await s.ask({ model: 'vm' })).toBe(200)
    const [receipt, ...others] = await s.receipts()
    expect(others).toEqual([])
    const steps = (receipt?.details as { steps: { usd_saved_nano: number }[] }).steps
    // Both of the panel, and the first one again as the judge.
    expect(steps.map(({ usd_saved_nano }) => usd_saved_nano).sort((a, b) => a - b)).toEqual([720_000, 720_000, 7_200_000])
    expect(receipt?.usd_saved_nano).toBe(8_640_000)
    const { usd_saved } = await s.totals()
    for (const by of ['source', 'model,provider', 'virtual_model,day']) {
      const { body } = await s.get<{ totals: { usd_saved: number } }>(`/api/reports?window=7d&group_by=${by}`)
      expect(body.totals.usd_saved, by).toBe(usd_saved)
    }
  })

  it('that was written and hardly read is booked as a loss, and lowers the totals', async () => {
    s = await site({
      env: HOUR,
      upstream: [used({ input: 20, output: 100 }), used({ input: 1000, output: 10, cacheRead: 10, cacheWrite: 900 })],
    })
    await s.ask()
    await s.ask()
    expect((await s.totals()).usd_saved).toBe(0.00042)
    await s.ask({ model: 'messages/cheap' })
    const loss = 10 * 900 - 900 * 250
    expect(await s.receipts('?source=prompt_cache')).toMatchObject([{ usd_saved_nano: loss }])
    expect(loss).toBeLessThan(0)
    expect(await s.totals()).toMatchObject({
      ...{ receipts: 2, tokens_saved: 120, usd_saved: (420_000 + loss) / 1e9 },
      by_source: { exact_cache: { usd_saved: 0.00042, receipts: 1 }, prompt_cache: { usd_saved: loss / 1e9, receipts: 1 } },
    })
  })
})

describe('routing', () => {
  const virtual = async (strategy: string) => {
    const targets = ['chat/dear', 'chat/cheap']
    expect((await s.api('POST', '/api/virtual-models', { name: 'vm', strategy, targets })).status).toBe(201)
  }

  it('cheapest first saves what the dearest eligible target would have cost more', async () => {
    s = await site({ upstream: [used({ input: 100, output: 10 })] })
    await virtual('cost_optimized')
    await s.ask({ model: 'vm' })
    expect(await s.receipts()).toMatchObject([
      {
        ...{ source: 'routing', method: 'counterfactual', virtual_model: 'vm', model: 'cheap', tokens_saved: 0 },
        ...{ usd_saved_nano: 1_400_000 - 140_000 },
        details: { cost_nano: 140_000, instead: { provider: 'chat', model: 'dear', cost_nano: 1_400_000 } },
      },
    ])
  })

  it('by another strategy is nobody’s saving', async () => {
    s = await site({ upstream: [used({ input: 100, output: 10 })] })
    await virtual('load_balance')
    await s.ask({ model: 'vm' })
    expect(await booked()).toBe(0)
  })

  it('that ended at the dearest, or with an error, saved nothing', async () => {
    s = await site({ upstream: [fail(404), used({ input: 100, output: 10 }), fail(400)] })
    await virtual('cost_optimized')
    expect(await s.ask({ model: 'vm' })).toBe(200)
    expect(s.t.settled[0]?.outcome.steps[0]?.model).toBe('dear')
    expect(await s.ask({ model: 'vm' })).toBe(400)
    expect(await booked()).toBe(0)
  })
})

describe('shortened tool output', () => {
  const LOG = OUTPUTS['a log']!.text
  const history = (result: string) => ({
    messages: [
      { role: 'user', content: 'Hi' },
      { role: 'assistant', content: '', tool_calls: [{ id: 'c', type: 'function', function: { name: 'sh', arguments: '{}' } }] },
      { role: 'tool', tool_call_id: 'c', content: result },
    ],
  })
  const filtering = { settings: { token_saver: { filters_enabled: true } } } as never

  it('is booked once, whatever was tried, at the input price', async () => {
    s = await site({ config: filtering, upstream: [fail(500), used({ input: 500, output: 10 })] })
    const targets = ['chat/dear', 'messages/cheap']
    await s.api('POST', '/api/virtual-models', { name: 'vm', strategy: 'failover', targets })
    expect(await s.ask({ ...history(LOG), model: 'vm' })).toBe(200)
    expect(s.t.upstream.requests).toHaveLength(2)
    const [receipt, ...others] = await s.receipts()
    expect(others).toEqual([])
    expect(receipt).toMatchObject({ source: 'token_filter', method: 'tokenizer', details: { filters: ['dedup-log'] } })
    expect(receipt?.tokens_saved).toBeGreaterThan(10)
    expect(receipt?.usd_saved_nano).toBe((receipt?.tokens_saved as number) * 1000)
    expect((receipt?.tokens_before as number) - (receipt?.tokens_after as number)).toBe(receipt?.tokens_saved)
  })

  it('that no model read saved nothing', async () => {
    s = await site({ config: filtering, upstream: [fail(400)] })
    expect(await s.ask(history(LOG))).toBe(400)
    expect(await booked()).toBe(0)
  })
})

describe('a claim of another plugin', () => {
  const claiming = (claims: Claim[], refused: unknown[] = []) =>
    definePlugin({
      name: 'test-claims',
      requires: ['savings'],
      setup(gateway) {
        gateway.hook('request', (ctx) => {
          for (const claim of claims) {
            try {
              gateway.use('savings').claim(ctx, claim)
            } catch (error) {
              refused.push((error as Error).message)
            }
          }
        })
      },
    })()

  it('is priced at the input price, or as it says; the last of a source counts', async () => {
    const words = { source: 'short_words', method: 'tokenizer', tokensAfter: 10 } as const
    const plugin = claiming([
      { ...words, tokensBefore: 90 },
      { ...words, tokensBefore: 50 },
      { source: 'free_pool', method: 'measured', tokensBefore: 5, tokensAfter: 5, usdSavedNano: 77, details: { pool: 'a' } },
    ])
    s = await site({ plugins: [plugin], upstream: [used({ input: 20, output: 10 })] })
    await s.ask()
    expect(await s.receipts('?source=short_words')).toMatchObject([{ tokens_saved: 40, usd_saved_nano: 40_000 }])
    expect(await s.receipts('?source=free_pool')).toMatchObject([{ usd_saved_nano: 77, details: { pool: 'a' } }])
  })

  it('of an internal call is booked with the request it belongs to', async () => {
    const inner = definePlugin({
      name: 'test-inner',
      requires: ['savings'],
      setup(gateway) {
        const { claim } = gateway.use('savings')
        gateway.hook('prepare', (ctx) => {
          if (ctx.parent !== null) claim(ctx, { source: 'inner', method: 'measured', tokensBefore: 3, tokensAfter: 1 })
        })
      },
    })
    s = await site({ plugins: [inner()], upstream: [0, 1, 2].map(() => used({ input: 20, output: 1 })) })
    await s.api('POST', '/api/virtual-models', { name: 'vm', strategy: 'fusion', targets: ['chat/cheap', 'messages/cheap'] })
    expect(await s.ask({ model: 'vm' })).toBe(200)
    expect(await s.receipts()).toMatchObject([
      { source: 'inner', tokens_saved: 2, usd_saved_nano: 2000, request_id: s.t.settled[0]?.ctx.id },
    ])
  })

  it('of another shape is refused, and says why', async () => {
    const refused: string[] = []
    const claim: Claim = { source: 'a', method: 'measured', tokensBefore: 1, tokensAfter: 0 }
    const wrong = [{ source: 'A b' }, { tokensBefore: -1 }, { tokensAfter: 0.5 }, { usdSavedNano: 0.5 }]
    const plugin = claiming(
      wrong.map((one) => ({ ...claim, ...one })),
      refused,
    )
    s = await site({ plugins: [plugin], upstream: [used({ input: 20, output: 10 })] })
    await s.ask()
    expect(refused).toEqual(
      [/`source`/, /`tokensBefore`/, /`tokensAfter`/, /`usdSavedNano`/].map((m) => expect.stringMatching(m)),
    )
    expect(await booked()).toBe(0)
  })
})

it('a settlement that is written twice is booked once', async () => {
  const replay = definePlugin({
    name: 'test-replay',
    setup(gateway) {
      const twice = (unit: { add: (...statements: never[]) => void }): void => {
        const add = unit.add.bind(unit)
        // Applies the whole unit twice, as a replayed spool does.
        unit.add = (...statements) => add(...statements, ...statements)
      }
      gateway.hook('settle', (_ctx, _outcome, unit) => twice(unit), { order: 'pre' })
    },
  })
  s = await site({ env: HOUR, plugins: [replay()], upstream: [used({ input: 20, output: 100 })] })
  await s.ask()
  await s.ask()
  expect(await booked()).toBe(1)
  await s.receipts()
  // Also when it is already in the chain.
  const { ctx, outcome } = s.t.settled[1] as (typeof s.t.settled)[number]
  expect(outcome.cached).toBe('exact')
  const columns = sql`request_id, source, org_id, at, usage_source, tokens_before, tokens_after, tokens_saved, usd_saved_nano, method, details`
  await s.db.run(
    sql`INSERT INTO savings_receipts (${columns}) VALUES (${ctx.id}, 'exact_cache', 0, 1, 'cache', 9, 9, 9, 9, 'measured', '{}')
        ON CONFLICT (request_id, source) DO NOTHING`,
  )
  expect(await s.receipts()).toMatchObject([{ seq: 1, usd_saved_nano: 420_000 }])
})
