// GET /api/virtual-models/:id/preview: shows which targets would be tried now, in which order and why. It changes no state: no rotation,
// no random draw, no measurement.
import { z } from 'zod'
import { notFound } from '../../core/http/api-routes.ts'
import { idParams } from '../../core/http/schemas.ts'
import type { PluginGateway } from '../../core/types/plugin.ts'
import type { CompiledModel, CompiledTarget } from './compiled-model.ts'
import { type ProviderId, recipeTarget } from './compiled-model.ts'
import type { Accounts, Knowledge } from './model-facts.ts'
import type { Planner } from './planner.ts'
import { STRATEGIES, type VirtualModelService } from './service.ts'
import { ordered } from './strategies/order.ts'
import { probabilities } from './strategies/weighted.ts'

const tokens = (fallback: number) =>
  z
    .string()
    .regex(/^\d{1,9}$/, 'must be a whole number of at most nine digits')
    .optional()
    .transform((text) => (text === undefined ? fallback : Number(text)))

const SKIP_REASONS = [
  'no_connection',
  'model_locked',
  'cooldown',
  'quota_exhausted',
  'circuit_open',
  'at_capacity',
  'policy_blocked',
  'not_allowed',
  'disabled',
  'capability',
  'unsupported',
] as const

const signals = z.strictObject({
  est_cost_usd: z.number().optional(),
  input_per_1m: z.number().optional(),
  output_per_1m: z.number().optional(),
  latency_ms: z.number().optional(),
  latency_samples: z.int().optional(),
  quota_remaining_pct: z.number().optional().describe('Of the tightest window of the account that has most left.'),
  breaker: z.enum(['closed', 'open', 'half_open']).optional().describe('Of the account that would be asked first.'),
  inflight: z.int().optional().describe('Of all its accounts.'),
})

const reason = z.enum(SKIP_REASONS)

const preview = z.strictObject({
  virtual_model: z.string(),
  strategy: z.enum(STRATEGIES),
  generated_at: z.string(),
  cursor: z.int(),
  order: z.array(
    z.strictObject({
      rank: z.int(),
      target: z.string(),
      weight: z.number(),
      draw_probability: z.number().optional(),
      connections_available: z.int(),
      connections_total: z.int(),
      signals,
    }),
  ),
  dropped: z.array(
    z.strictObject({
      target: z.string(),
      reason,
      until: z.string().optional(),
      connections: z.array(z.strictObject({ id: z.int(), reason, until: z.string().optional() })),
    }),
  ),
})

type Preview = z.input<typeof preview>

export interface PreviewSources {
  gateway: PluginGateway
  models: VirtualModelService
  compiled: (orgId: number | null, name: string) => CompiledModel | null
  knowledge: Knowledge
  planner: Planner
  providerId: ProviderId
}

export function previewRoute({ gateway, models, compiled: recipeNamed, knowledge, planner, providerId }: PreviewSources): void {
  gateway.api({
    method: 'GET',
    path: '/api/virtual-models/:id/preview',
    summary: 'What a virtual model would try now, in its order; nothing moves by looking.',
    params: idParams,
    query: z.strictObject({ input_tokens: tokens(1000), max_tokens: tokens(1024) }),
    response: preview,
    handler({ params, query, orgId }): Preview {
      const model = models.get(orgId, params.id)
      const compiled = model === null ? null : recipeNamed(orgId, model.name)
      if (model === null || compiled === null) throw notFound(`There is no virtual model ${params.id}.`)
      const looked = compiled.targets.map((target) => ({ target, accounts: knowledge.accounts(orgId, target) }))
      const tooSmall = (target: CompiledTarget) =>
        (knowledge.facts(target.provider, target.model).contextWindow ?? Number.POSITIVE_INFINITY) < query.input_tokens
      const noneFits = looked.every(({ target }) => tooSmall(target))
      const kept = looked.filter(({ target, accounts }) => accounts.available.length > 0 && (noneFits || !tooSmall(target)))
      const cost = ({ provider, model }: CompiledTarget) => knowledge.cost(provider, model, query.input_tokens, query.max_tokens)
      const order = ordered(compiled.ordering, kept, compiled.config, {
        turn: () => planner.cursors.peek(compiled),
        random: null,
        cost,
        listedPrice: ({ provider, model }) => knowledge.listedPrice(provider, model),
        latency: ({ id }) => planner.latency.any(id)?.ms ?? null,
      })
      const odds = new Map(probabilities(kept).map((probability, index) => [kept[index]?.target, probability]))
      const disabled = model.targets.filter(({ enabled }) => !enabled).map((target) => recipeTarget(target, providerId))
      return {
        virtual_model: model.name,
        strategy: model.strategy,
        generated_at: time(gateway.clock.now()),
        cursor: planner.cursors.peek(compiled),
        order: order.map(({ target, accounts }, index) => ({
          rank: index + 1,
          target: target.id,
          weight: target.weight,
          ...(model.strategy === 'weighted' ? { draw_probability: odds.get(target) ?? 0 } : {}),
          connections_available: accounts.available.length,
          connections_total: accounts.total,
          signals: signalsOf(target, accounts, cost(target)),
        })),
        dropped: [
          ...looked.filter((one) => !kept.includes(one)).map(({ target, accounts }) => droppedOf(target, accounts)),
          ...disabled.map((target) => ({ target: target.id, reason: 'disabled' as const, connections: [] })),
        ],
      }
    },
  })

  /** Unknown members are absent. */
  function signalsOf(
    { id, provider, model }: CompiledTarget,
    { available }: Accounts,
    cost: number | null,
  ): z.input<typeof signals> {
    const { price } = knowledge.facts(provider, model)
    const latency = planner.latency.any(id)
    const left = available.flatMap((connection) => knowledge.quotaLeft(connection, model) ?? [])
    const states = available.flatMap((connection) => knowledge.stateOf(connection) ?? [])
    return {
      ...(cost === null ? {} : { est_cost_usd: cost / 1e9 }),
      ...(price?.input === undefined ? {} : { input_per_1m: price.input / 1e9 }),
      ...(price?.output === undefined ? {} : { output_per_1m: price.output / 1e9 }),
      ...(latency === null ? {} : { latency_ms: Math.round(latency.ms), latency_samples: latency.samples }),
      ...(left.length === 0 ? {} : { quota_remaining_pct: Math.round(Math.max(...left) * 1000) / 10 }),
      ...(states[0] === undefined ? {} : { breaker: states[0].breaker }),
      ...(states.length === 0 ? {} : { inflight: states.reduce((sum, { inflight }) => sum + inflight, 0) }),
    }
  }
}

function droppedOf(target: CompiledTarget, { available, blocked }: Accounts): Preview['dropped'][number] {
  const connections = blocked.map(({ connection, reason, until }) => ({
    id: Number(connection.id),
    reason,
    ...(until === null ? {} : { until: time(until) }),
  }))
  if (available.length > 0) return { target: target.id, reason: 'capability', connections: [] }
  const ends = blocked.flatMap(({ until }) => until ?? [])
  return {
    target: target.id,
    reason: blocked[0]?.reason ?? 'no_connection',
    ...(ends.length === 0 ? {} : { until: time(Math.min(...ends)) }),
    connections,
  }
}

function time(at: number): string {
  return new Date(at).toISOString()
}
