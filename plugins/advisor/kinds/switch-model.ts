// switch_model: an expensive target does easy work, and a cheaper target of the same virtual model is at hand.
import type { Facts, Used } from '../facts.ts'
import type { Finding } from '../service.ts'
import { hint, isSteered, nameOf, type Target, update } from './targets-of.ts'

const MIN_REQUESTS = 50
/** Part of the cost that the cheaper target must save. */
const MIN_SAVING = 0.2
/** Work counts as easy up to these means per request. */
const EASY_INPUT_TOKENS = 2000
const EASY_OUTPUT_TOKENS = 200
/** Without judged samples the answers of the two models have not been compared. */
const UNJUDGED = 0.3
const PROVEN_CALLS = 30

export function switchModel(facts: Facts): Finding[] {
  return facts.virtualModels.flatMap((model) => {
    if (!model.enabled || model.modality !== 'text' || !isSteered(model)) return []
    const used = facts.used.filter(({ virtualModel }) => virtualModel === model.name)
    const [busiest] = used.filter((use) => isExpensive(use)).sort((a, b) => b.costNano - a.costNano)
    if (busiest === undefined) return []
    const best = cheapest(facts, busiest, model.targets)
    if (best === null) return []
    // It is so already, since a part of the window.
    if (isFirst(model.strategy, model.targets, busiest, best.target)) return []
    const targets = steeredTo(model.strategy, model.targets, busiest, best.target)
    const proven = used.some(
      (use) => nameOf(use) === nameOf(best.target) && use.requests >= PROVEN_CALLS && use.errors * 50 < use.requests,
    )
    const saved = busiest.costNano - best.costNano
    return [
      {
        kind: 'switch_model' as const,
        subject: `${model.id} ${nameOf(busiest)} ${nameOf(best.target)}`,
        title: `Send \`${model.name}\` to ${nameOf(best.target)} first`,
        detail:
          `${busiest.requests} requests to ${nameOf(busiest)} cost ${usd(busiest.costNano)} USD. ` +
          `The same tokens cost ${usd(best.costNano)} USD at ${nameOf(best.target)}. ` +
          `Their difference times ${facts.monthly.toFixed(2)} is the saving of 30 days. The answers have not been compared.`,
        estMonthlyUsd: (saved / 1e9) * facts.monthly,
        confidence: proven ? UNJUDGED + 0.1 : UNJUDGED,
        evidence: {
          virtual_model: model.name,
          from: nameOf(busiest),
          to: nameOf(best.target),
          requests: busiest.requests,
          cost_usd: busiest.costNano / 1e9,
          cost_usd_there: best.costNano / 1e9,
          mean_input_tokens: Math.round(busiest.inputTokens / busiest.requests),
          mean_output_tokens: Math.round(busiest.outputTokens / busiest.requests),
          log_filter: `vm:${model.name} model:${busiest.model}`,
        },
        applyAction: update(model, targets),
        applyHint: hint(model, targets),
      },
    ]
  })
}

function isExpensive({ requests, inputTokens, outputTokens, costNano }: Used): boolean {
  if (requests < MIN_REQUESTS || costNano === 0) return false
  return inputTokens <= requests * EASY_INPUT_TOKENS && outputTokens <= requests * EASY_OUTPUT_TOKENS
}

function cheapest(facts: Facts, busiest: Used, targets: readonly Target[]): { target: Target; costNano: number } | null {
  let best: { target: Target; costNano: number } | null = null
  for (const target of targets) {
    if (!target.enabled || nameOf(target) === nameOf(busiest)) continue
    const price = facts.price(target.provider, target.model)
    if (price?.input === undefined || price.output === undefined) continue
    const fresh = busiest.inputTokens - busiest.cacheReadTokens
    const input = fresh * price.input + busiest.cacheReadTokens * (price.cacheRead ?? price.input)
    const costNano = (input + busiest.outputTokens * price.output) / 1e6
    if (costNano > busiest.costNano * (1 - MIN_SAVING)) continue
    if (best === null || costNano < best.costNano) best = { target, costNano }
  }
  return best
}

function isFirst(strategy: string, targets: readonly Target[], from: Used, to: Target): boolean {
  const expensive = targets.findIndex((target) => nameOf(target) === nameOf(from) && target.enabled)
  if (expensive === -1) return true
  return strategy === 'failover' ? targets.indexOf(to) < expensive : strategy === 'weighted' && targets[expensive]?.weight === 0
}

/** In order: the cheaper target first. By weight: the two exchange their weights. */
function steeredTo(strategy: string, targets: readonly Target[], from: Used, to: Target): readonly Target[] {
  if (strategy === 'failover') return [to, ...targets.filter((target) => target !== to)]
  const expensive = targets.find((target) => nameOf(target) === nameOf(from))
  if (strategy === 'load_balance') return targets.map((target) => (target === expensive ? { ...target, enabled: false } : target))
  return targets.map((target) => {
    if (target === to) return { ...target, weight: Math.max(to.weight, expensive?.weight ?? 1) }
    return target === expensive ? { ...target, weight: 0 } : target
  })
}

const usd = (nano: number): string => (nano / 1e9).toFixed(4)
