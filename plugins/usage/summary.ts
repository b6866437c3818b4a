// GET /api/usage and /api/usage/split: sums of the newest rows of a window, in total and by group.
import { z } from 'zod'
import { shownWindow, windowAnswer, windowOf, windowQuery } from '../../core/http/window.ts'
import { isReplay } from '../../core/records/replays.ts'
import type { PluginGateway } from '../../core/types/plugin/plugin.ts'
import { Figures, Grouped, shownTokens, tokensAnswer, usd } from './figures.ts'
import { KeyNames } from './key-names.ts'
import type { Savings, UsageReader, UsageRow } from './ledger.ts'

/** Maximum rows. A larger window is answered from its newest rows, and the answer is marked. */
export const CAP = 100_000

const totals = z.strictObject({
  requests: z.int(),
  errors: z.int(),
  tokens: tokensAnswer,
  cost_usd: z.number(),
  charge_usd: z.number(),
  cached_requests: z.int(),
  usd_saved: z.number(),
  estimated_tokens: z.int().describe('Counted by the gateway, because the upstream did not say.'),
  estimated_cost_usd: z.number().describe('The part of `cost_usd` that comes from these tokens.'),
  estimated_charge_usd: z.number(),
  unpriced_requests: z.int().describe('Calls without a known price: `cost_usd` does not contain them.'),
  interrupted_requests: z.int().describe('Their process ended before they did.'),
})

const group = {
  requests: z.int(),
  errors: z.int(),
  tokens: tokensAnswer,
  cost_usd: z.number(),
  unpriced_requests: z.int(),
  last_at: z.string().nullable().describe('Start of the newest request.'),
  p50_ms: z.int().nullable(),
  p95_ms: z.int().nullable(),
}

const LISTS = ['provider', 'model', 'key', 'virtual_model', 'cost_center'] as const
type List = (typeof LISTS)[number]

const VALUE: Readonly<Record<List, (row: UsageRow, keys: KeyNames) => string | null>> = {
  provider: (row) => row.provider,
  model: (row) => (row.model === null ? null : `${row.provider}/${row.model}`),
  key: (row, keys) => keys.idOf(row),
  virtual_model: (row) => row.virtualModel,
  cost_center: (row) => row.costCenter,
}

const listOf = <N extends List>(name: N) =>
  z.array(z.strictObject({ ...({ [name]: z.string() } as Record<N, z.ZodString>), ...group }))

const part = z.strictObject({
  requests: z.int(),
  tokens: tokensAnswer,
  cost_usd: z.number(),
})

const summary = z.strictObject({
  window: windowAnswer,
  truncated: z.boolean().describe('There are more rows than are read: the figures are of the newest only.'),
  totals,
  shadow: part.describe('Replays of shadow evaluation: no other figure contains them.'),
  by_provider: listOf('provider'),
  by_model: listOf('model'),
  by_key: z.array(
    z.strictObject({
      key: z.string(),
      key_id: z.int().nullable().describe('null: a key that is only known by its label.'),
      ...group,
    }),
  ),
  by_virtual_model: listOf('virtual_model'),
  by_cost_center: listOf('cost_center'),
})

export function summaryRoutes(gateway: PluginGateway, usage: UsageReader, savings: Savings): void {
  gateway.api({
    method: 'GET',
    path: '/api/usage',
    summary: 'Requests, tokens and costs of a window, by provider, model, key, virtual model and cost center.',
    role: 'member',
    query: z.strictObject(windowQuery),
    response: summary,
    async handler({ query, orgId }) {
      const window = windowOf(query, gateway.clock.now())
      const all = new Figures()
      const keys = new KeyNames()
      let oldest = window.until
      const lists = Object.fromEntries(LISTS.map((name) => [name, new Grouped()])) as Record<List, Grouped>
      const replays = new Figures()
      const { truncated } = await usage.newest({ ...window, orgId }, CAP, (row) => {
        oldest = row.at
        if (isReplay(row)) return replays.add(row)
        all.add(row)
        for (const name of LISTS) lists[name].add(VALUE[name](row, keys), row)
      })
      // When there are more rows, only savings of the rows that were read.
      const saved = await savings()?.total({ ...window, since: truncated ? oldest : window.since, orgId })
      const shown = <N extends Exclude<List, 'key'>>(name: N) =>
        lists[name]
          .sorted()
          .map(([value, figures]) => ({ ...({ [name]: value } as Record<N, string>), ...shownFigures(figures) }))
      return {
        window: shownWindow(window),
        truncated,
        totals: {
          requests: all.requests,
          errors: all.errors,
          tokens: shownTokens(all.tokens),
          cost_usd: usd(all.costNano),
          charge_usd: usd(all.chargeNano),
          cached_requests: all.cached,
          usd_saved: usd(saved ?? 0),
          estimated_tokens: all.estimated.tokens,
          estimated_cost_usd: usd(all.estimated.costNano),
          estimated_charge_usd: usd(all.estimated.chargeNano),
          unpriced_requests: all.unpriced,
          interrupted_requests: all.interrupted,
        },
        shadow: { requests: replays.requests, tokens: shownTokens(replays.tokens), cost_usd: usd(replays.costNano) },
        by_provider: shown('provider'),
        by_model: shown('model'),
        by_key: lists.key
          .sorted()
          .map(([id, figures]) => ({ key: keys.nameOf(id), key_id: keys.numberOf(id), ...shownFigures(figures) })),
        by_virtual_model: shown('virtual_model'),
        by_cost_center: shown('cost_center'),
      }
    },
  })

  gateway.api({
    method: 'GET',
    path: '/api/usage/split',
    summary: 'Divides usage into requests that the free pool served and requests that your own connections served.',
    role: 'member',
    query: z.strictObject(windowQuery),
    response: z.strictObject({
      window: windowAnswer,
      truncated: z.boolean(),
      free_pool: part.extend({ list_price_usd: z.number().describe('The cost of these requests at list prices.') }),
      own_provider: part,
      total: part,
    }),
    async handler({ query, orgId }) {
      const window = windowOf(query, gateway.clock.now())
      const [free, own, total] = [new Figures(), new Figures(), new Figures()]
      const { truncated } = await usage.newest({ ...window, orgId }, CAP, (row) => {
        if (isReplay(row)) return
        total.add(row)
        ;(row.freePool ? free : own).add(row)
      })
      const shown = ({ requests, tokens, chargeNano }: Figures) => ({
        requests,
        tokens: shownTokens(tokens),
        cost_usd: usd(chargeNano),
      })
      return {
        window: shownWindow(window),
        truncated,
        free_pool: { ...shown(free), list_price_usd: usd(free.costNano) },
        own_provider: shown(own),
        total: shown(total),
      }
    },
  })
}

function shownFigures(figures: Figures) {
  return {
    requests: figures.requests,
    errors: figures.errors,
    tokens: shownTokens(figures.tokens),
    cost_usd: usd(figures.costNano),
    unpriced_requests: figures.unpriced,
    last_at: figures.lastAt === null ? null : new Date(figures.lastAt).toISOString(),
    p50_ms: figures.latency(0.5),
    p95_ms: figures.latency(0.95),
  }
}
