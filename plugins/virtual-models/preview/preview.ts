// Computes which targets of a virtual model would be tried now, in which order and why. It changes no state: no rotation, no random draw,
// no measurement. Its rules are the planner's.
import type { Clock } from '../../../core/types/ports/ports.ts'
import { capable, type Needs } from '../planning/capability.ts'
import { type CompiledModel, type CompiledTarget, type ProviderId, recipeTarget } from '../planning/compiled-model.ts'
import type { Accounts, Assumed, Knowledge } from '../planning/model-facts.ts'
import type { Planner } from '../planning/planner.ts'
import type { VirtualModel } from '../service.ts'
import { ordered } from '../strategies/order.ts'
import { probabilities } from '../strategies/weighted.ts'
import type { Preview, RequestFacts, Signals } from './preview-fields.ts'

export interface PreviewSources {
  readonly clock: Pick<Clock, 'now'>
  readonly knowledge: Knowledge
  readonly planner: Planner
  readonly providerId: ProviderId
}

export interface Previewed {
  readonly compiled: CompiledModel
  readonly facts: RequestFacts
  readonly assumed?: Assumed
}

interface Looked {
  readonly target: CompiledTarget
  readonly accounts: Accounts
}

/** Returns every enabled target with its accounts, those that may be tried, and these in their order. */
export function orderNow(sources: PreviewSources, orgId: number | null, { compiled, facts, assumed }: Previewed) {
  const { knowledge, planner } = sources
  const looked: Looked[] = compiled.targets.map((target) => ({ target, accounts: knowledge.accounts(orgId, target, assumed) }))
  const fits = fitting(knowledge, compiled, facts, looked)
  const kept = looked.filter(({ target, accounts }) => accounts.available.length > 0 && fits(target))
  const order = ordered(compiled.ordering, kept, compiled.config, {
    turn: () => planner.cursors.peek(compiled),
    random: null,
    cost: ({ provider, model }) => knowledge.cost(orgId, provider, model, facts.inputTokens, facts.maxTokens),
    listedPrice: ({ provider, model }) => knowledge.listedPrice(orgId, provider, model),
    quality: ({ provider, model }) => knowledge.quality(orgId, provider, model),
    latency: (target) => latencyOf(planner, orgId, target, facts)?.ms ?? null,
  })
  return { looked, kept, order }
}

export function previewOf(sources: PreviewSources, model: VirtualModel, previewed: Previewed): Preview {
  const { clock, knowledge, planner, providerId } = sources
  const { compiled, facts } = previewed
  const { orgId } = model
  const { looked, kept, order } = orderNow(sources, model.orgId, previewed)
  const cost = ({ provider, model }: CompiledTarget) => knowledge.cost(orgId, provider, model, facts.inputTokens, facts.maxTokens)
  const odds = new Map(probabilities(kept).map((probability, index) => [kept[index]?.target, probability]))
  const disabled = model.targets.filter(({ enabled }) => !enabled).map((target) => recipeTarget(target, providerId))
  return {
    virtual_model: model.name,
    strategy: model.strategy,
    generated_at: time(clock.now()),
    cursor: planner.cursors.peek(compiled),
    order: order.map(({ target, accounts }, index) => ({
      rank: index + 1,
      target: target.id,
      weight: target.weight,
      ...(model.strategy === 'weighted' ? { draw_probability: odds.get(target) ?? 0 } : {}),
      connections_available: accounts.available.length,
      connections_total: accounts.total,
      signals: signalsOf(knowledge, orgId, target, accounts, {
        cost: cost(target),
        latency: latencyOf(planner, orgId, target, facts),
      }),
    })),
    dropped: [
      ...looked.filter((one) => !kept.includes(one)).map(({ target, accounts }) => droppedOf(target, accounts)),
      ...disabled.map((target) => ({ target: target.id, reason: 'disabled' as const, connections: [] })),
    ],
  }
}

function latencyOf(planner: Planner, orgId: number | null, { id }: CompiledTarget, { stream }: RequestFacts) {
  const measured = planner.latency(orgId)
  return stream === null ? measured.any(id) : measured.of(id, stream)
}

/** Returns whether a target can serve the request. As for requests, all stay when no target that has an account can. */
function fitting(
  knowledge: Knowledge,
  { ordering, modality, targets, orgId }: CompiledModel,
  { inputTokens, features }: RequestFacts,
  looked: readonly Looked[],
): (target: CompiledTarget) => boolean {
  // Only conversations are filtered, and a chain cannot omit one of its steps.
  if (modality !== 'text' || ordering === 'pipeline' || targets.length < 2) return () => true
  const needs: Needs = {
    vision: features.includes('vision'),
    tools: features.includes('tools'),
    tokens: inputTokens,
    mayFill: () => true,
  }
  const able = ({ provider, model }: CompiledTarget) => capable(knowledge.facts(orgId, provider, model), needs)
  return looked.some(({ target, accounts }) => accounts.considered > 0 && able(target)) ? able : () => true
}

/** Unknown members are absent. */
function signalsOf(
  knowledge: Knowledge,
  orgId: number | null,
  { provider, model }: CompiledTarget,
  { available }: Accounts,
  { cost, latency }: { cost: number | null; latency: { ms: number; samples: number } | null },
): Signals {
  const { price } = knowledge.facts(orgId, provider, model)
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
