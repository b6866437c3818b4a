// GET /api/eval: ranks models by their results. Quality is known only for models that shadow evaluation has scored.
import { z } from 'zod'
import { shownWindow, windowAnswer, windowOf, windowQuery } from '../../core/http/window.ts'
import { isReplay } from '../../core/records/replays.ts'
import type { PluginGateway } from '../../core/types/plugin/plugin.ts'
import { entryOf, Figures, usd } from './figures.ts'
import type { UsageReader } from './ledger.ts'
import { CAP } from './summary.ts'

const OPTIMIZE = ['score', 'cost', 'latency', 'quality'] as const
type Optimize = (typeof OPTIMIZE)[number]

/** Models with fewer requests come after the others. */
const ENOUGH = 5
const LAST = Number.POSITIVE_INFINITY

interface Ranked {
  readonly provider: string
  readonly model: string
  readonly requests: number
  readonly success_rate: number
  readonly p50_ms: number | null
  readonly p95_ms: number | null
  readonly avg_cost_usd: number | null
  readonly cost_per_1k_output_tokens: number | null
  readonly quality: number | null
  readonly quality_samples: number
}

export function evalRoute(gateway: PluginGateway, usage: UsageReader): void {
  const shadow = gateway.optional('shadow')
  gateway.api({
    method: 'GET',
    path: '/api/eval',
    summary: 'Models ranked by score, cost, latency or quality.',
    role: 'member',
    query: z.strictObject({
      ...windowQuery,
      optimize: z.enum(OPTIMIZE).default('score'),
      limit: z.coerce.number().int().min(1).max(500).default(100),
    }),
    response: z.strictObject({
      window: windowAnswer,
      optimize: z.enum(OPTIMIZE),
      truncated: z.boolean(),
      data: z.array(
        z.strictObject({
          rank: z.int(),
          provider: z.string(),
          model: z.string(),
          requests: z.int(),
          success_rate: z.number(),
          p50_ms: z.int().nullable(),
          p95_ms: z.int().nullable(),
          avg_cost_usd: z.number().nullable(),
          cost_per_1k_output_tokens: z.number().nullable(),
          quality: z.number().nullable().describe('Mean score of shadow evaluation, 0 to 1; null: none.'),
          quality_samples: z.int(),
          score: z.number(),
        }),
      ),
    }),
    async handler({ query, orgId }) {
      const window = windowOf(query, gateway.clock.now())
      const scores = await shadow()?.scores({ ...window, orgId })
      const models = new Map<string, { provider: string; model: string; figures: Calls }>()
      const { truncated } = await usage.newest({ ...window, orgId }, CAP, (row) => {
        if (row.provider === null || row.model === null || row.cached !== null) return
        const id = `${row.provider}/${row.model}`
        // Judges of shadow evaluation are not ranked for their verdicts.
        if (isReplay(row) && scores?.has(id) !== true) return
        const { provider, model } = row
        const { figures } = entryOf(models, id, () => ({ provider, model, figures: new Calls() }))
        // Here each step counts as a call.
        figures.add({ ...row, step: 0 })
        // A failure without cost carries no information about the price.
        if (row.costNano !== null && (row.costNano > 0 || row.status < 400)) figures.priced++
      })
      const ranked = ordered(
        [...models].map(([id, model]) => shown(model, scores?.get(id))),
        query.optimize,
      )
      return {
        window: shownWindow(window),
        optimize: query.optimize,
        truncated,
        data: ranked.slice(0, query.limit).map((row, index) => ({ rank: index + 1, ...row })),
      }
    },
  })
}

class Calls extends Figures {
  /** Number of calls with a known price. */
  priced = 0
}

interface Scored {
  readonly score: number
  readonly samples: number
}

function shown({ provider, model, figures }: { provider: string; model: string; figures: Calls }, scored?: Scored): Ranked {
  const { requests, errors, priced, costNano, tokens } = figures
  return {
    provider,
    model,
    requests,
    success_rate: (requests - errors) / requests,
    p50_ms: figures.latency(0.5),
    p95_ms: figures.latency(0.95),
    avg_cost_usd: priced === 0 ? null : usd(costNano / priced),
    cost_per_1k_output_tokens: priced === 0 || tokens.output === 0 ? null : usd((costNano / tokens.output) * 1000),
    quality: scored?.score ?? null,
    quality_samples: scored?.samples ?? 0,
  }
}

function ordered(rows: readonly Ranked[], optimize: Optimize): (Ranked & { score: number })[] {
  const cost = normalised(rows.map((row) => row.avg_cost_usd))
  const p95 = normalised(rows.map((row) => row.p95_ms))
  const scored = rows.map((row, index) => ({
    ...row,
    score:
      0.4 * (row.quality ?? row.success_rate) +
      0.25 * row.success_rate +
      0.2 * (1 - (cost[index] as number)) +
      0.15 * (1 - (p95[index] as number)),
  }))
  const key: Readonly<Record<Optimize, (row: (typeof scored)[number]) => number>> = {
    score: (row) => -row.score,
    cost: (row) => row.avg_cost_usd ?? LAST,
    latency: (row) => row.p95_ms ?? LAST,
    quality: (row) => (row.quality === null ? LAST : -row.quality),
  }
  const by = (a: number, b: number) => (a === b ? 0 : a - b)
  return scored.sort(
    (a, b) =>
      standing(a) - standing(b) ||
      by(key[optimize](a), key[optimize](b)) ||
      b.requests - a.requests ||
      (`${a.provider}/${a.model}` < `${b.provider}/${b.model}` ? -1 : 1),
  )
}

/** Groups for every order: models in use, models with few requests, models with only failures. */
function standing({ requests, success_rate }: Ranked): number {
  if (success_rate === 0) return 2
  return requests < ENOUGH ? 1 : 0
}

/** Returns 0 for the smallest, 1 for the largest; unknown counts as the largest, a single value as the smallest. */
function normalised(values: readonly (number | null)[]): number[] {
  if (values.length === 1) return [0]
  const known = values.filter((value) => value !== null)
  const [least, most] = [Math.min(...known), Math.max(...known)]
  return values.map((value) => (value === null ? 1 : most === least ? 0 : (value - least) / (most - least)))
}
