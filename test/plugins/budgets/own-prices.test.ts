// Organizations with prices of their own: a reservation covers the bill in every dialect, whichever of the two price lists is higher.
import fc from 'fast-check'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { choose, reply } from '../../../adapters/testing/script.ts'
import { definePlugin } from '../../../core/plugins/define.ts'
import type { Billable } from '../../../core/services.ts'
import type { Connection } from '../../../core/types/ports/provider.ts'
import { estimateOperation } from '../../../plugins/budgets/estimate/operation.ts'
import type { EstimateRules } from '../../../plugins/budgets/estimate/rules.ts'
import { type PoolSite, poolSite } from '../free-pool/support.ts'

const ORG = 7
const TEXT = 'a plain question '.repeat(40)
const BODIES = {
  chat: ['/v1/chat/completions', { messages: [{ role: 'user', content: TEXT }], max_tokens: 300 }],
  messages: ['/v1/messages', { messages: [{ role: 'user', content: TEXT }], max_tokens: 300 }],
  responses: ['/v1/responses', { input: TEXT, max_output_tokens: 300 }],
  generate_content: [null, { contents: [{ role: 'user', parts: [{ text: TEXT }] }], generationConfig: { maxOutputTokens: 300 } }],
} as const
const DIALECTS = Object.keys(BODIES) as (keyof typeof BODIES)[]

let s: PoolSite
let reserved = 0
let usage = {}
const watcher = definePlugin({
  name: 'test-watcher',
  requires: ['ledger'],
  setup(gateway) {
    const ledger = gateway.use('ledger')
    gateway.hook(
      'call',
      async (_ctx, next) => {
        const held = await ledger.balancesOf(gateway.db, 'budget:', 0)
        reserved = held.reduce((sum, { reservedNano }) => sum + reservedNano, 0)
        return next()
      },
      { order: 'pre' },
    )
  },
})

beforeAll(async () => {
  s = await poolSite({ shared: [], plugins: [watcher()], upstream: [choose(() => reply({ text: 'Hello.', usage }))] })
  for (const dialect of DIALECTS)
    await s.api(ORG, '/api/providers', {
      method: 'POST',
      body: {
        provider: 'custom',
        label: dialect,
        base_url: s.t.upstream.baseUrl(dialect),
        wire_format: dialect,
        api_key: 'sk-own',
        allowed_models: [dialect],
      },
    })
  const budget = { scope: 'org', window: 'lifetime', hard_limit_usd: 1_000_000 }
  expect(await s.api(ORG, '/api/budgets', { method: 'POST', body: budget })).toMatchObject({ scope: 'org' })
})
afterAll(() => s.t.close())

const usd = fc.integer({ min: 0, max: 5_000_000 }).map((micro) => micro / 1000)
const prices = fc.record(
  { input: usd, output: usd, cache_read: usd, cache_write: usd, reasoning: usd },
  { requiredKeys: ['input', 'output'] },
)
const tokens = fc.record({ cacheRead: fc.integer({ min: 0, max: 300 }), reasoning: fc.integer({ min: 0, max: 300 }) })

it.each(DIALECTS)('no less is reserved than is billed for a %s caller', async (dialect) => {
  const [path, body] = BODIES[dialect]
  let dearer = 0
  await fc.assert(
    fc.asyncProperty(prices, fc.option(prices), tokens, async (listed, own, used) => {
      usage = { input: 300, output: 300, ...used }
      const put = (org: number, price: object | null) =>
        s.api(org, '/api/pricing/overrides', {
          method: 'PUT',
          body: { data: price === null ? [] : [{ model: '*', ...price }] },
        })
      await put(0, listed)
      await put(ORG, own)
      const settled = s.t.settled.length
      const asked = { ...body, ...(path === null ? {} : { model: `custom/${dialect}` }) }
      const response = await s.t.post(path ?? `/v1beta/models/custom%2F${dialect}:generateContent`, asked, {
        'x-org': String(ORG),
      })
      expect(response.status, await response.text()).toBe(200)
      await s.t.untilCommitted(settled + 1)
      const billed = s.t.settled[settled]?.outcome.chargeNano ?? 0
      if (own !== null && own.output > listed.output) dearer++
      expect(reserved).toBeGreaterThanOrEqual(billed)
      expect(billed).toBeGreaterThanOrEqual(Math.floor(300 - used.reasoning) * (own ?? listed).output * 1000)
    }),
    { numRuns: 25 },
  )
  expect(dearer).toBeGreaterThan(0)
})

it('an operation over a shared connection is reserved at that connection, not at the caller’s own', () => {
  const own = { id: '1' } as Connection
  const shared = { id: '2' } as Connection
  const rules = {
    operations: { of: () => ({ estimate: () => ({ inputTokens: 10 }) }) },
    connections: () => ({ list: () => [own], shared: (id: string) => (id === '2' ? shared : undefined) }),
    prices: () => ({
      price: ({ connection }: Billable) => ({ costNano: connection === shared ? 9 : 1, chargeNano: 0, ref: 'x' }),
    }),
  } as unknown as EstimateRules
  const asked = (target: object) =>
    estimateOperation(
      { operation: 'embeddings', plan: { targets: [{ provider: 'custom', model: 'm', ...target }] } } as never,
      rules,
    )
  expect(asked({ connectionId: '2', shared: { free: false } }).nano).toBe(9)
  expect(asked({ connectionId: '1' }).nano).toBe(1)
})
