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
/** Without scored samples the answers of the two models have not been compared. */
const UNJUDGED = 0.3
const PROVEN_CALLS = 30
/** Scored samples from which on a score counts, and from which on it is as sure as it gets. */
const ENOUGH_SAMPLES = 10
const MANY_SAMPLES = 100
/** The cheaper answers would have done in this part of the samples. */
const GOOD = 0.9
const JUDGED = { least: 0.5, most: 0.95, bad: 0.1 }

export function switchModel(facts: Facts): Finding[] {
  return facts.virtualModels.flatMap((model) => {
    if (!model.enabled || model.modality !== 'text' || !isSteered(model)) return []
    const used = facts.used.filter(({ virtualModel }) => virtualModel === model.name)
    const [found] = used
      .filter((use) => use.requests >= MIN_REQUESTS && use.costNano > 0)
      .sort((a, b) => b.costNano - a.costNano)
      .flatMap((use) => {
        const best = bestFor(facts, use, model.targets)
        return best === null ? [] : [{ busiest: use, best }]
      })
    if (found === undefined) return []
    const { busiest, best } = found
    // It is so already, since a part of the window.
    if (isFirst(model.strategy, model.targets, busiest, best.target)) return []
    const targets = steeredTo(model.strategy, model.targets, busiest, best.target)
    const saved = busiest.costNano - best.costNano
    const { quality } = best
    return [
      {
        kind: 'switch_model' as const,
        subject: `${model.id} ${nameOf(busiest)} ${nameOf(best.target)}`,
        title: `Send \`${model.name}\` to ${nameOf(best.target)} first`,
        detail:
          `${busiest.requests} requests to ${nameOf(busiest)} cost ${usd(busiest.costNano)} USD. ` +
          `The same tokens cost ${usd(best.costNano)} USD at ${nameOf(best.target)}. ` +
          `Their difference times ${facts.monthly.toFixed(2)} is the saving of 30 days. ` +
          (quality === null
            ? 'The answers have not been compared.'
            : `In ${quality.samples} samples of shadow evaluation its answers scored ${quality.score.toFixed(2)} of 1.`),
        estMonthlyUsd: (saved / 1e9) * facts.monthly,
        confidence: confidenceOf(quality, isProven(used, best.target)),
        evidence: {
          virtual_model: model.name,
          from: nameOf(busiest),
          to: nameOf(best.target),
          requests: busiest.requests,
          cost_usd: busiest.costNano / 1e9,
          cost_usd_there: best.costNano / 1e9,
          mean_input_tokens: Math.round(busiest.inputTokens / busiest.requests),
          mean_output_tokens: Math.round(busiest.outputTokens / busiest.requests),
          shadow_samples: quality?.samples ?? 0,
          shadow_score: quality?.score ?? null,
          log_filter: `vm:${model.name} model:${busiest.model}`,
        },
        applyAction: update(model, targets),
        applyHint: hint(model, targets),
      },
    ]
  })
}

type Quality = NonNullable<ReturnType<Facts['quality']>>

interface Cheaper {
  readonly target: Target
  readonly costNano: number
  /** null: too few answers were compared. */
  readonly quality: Quality | null
}

/** The cheapest target whose answers would have done; without scores, the cheapest for easy work. */
function bestFor(facts: Facts, busiest: Used, targets: readonly Target[]): Cheaper | null {
  const cheaper = cheaperThan(facts, busiest, targets)
  return (
    cheaper.find(({ quality }) => quality !== null && quality.score >= GOOD) ?? (isEasy(busiest) ? (cheaper[0] ?? null) : null)
  )
}

function confidenceOf(quality: Quality | null, proven: boolean): number {
  if (quality === null) return proven ? UNJUDGED + 0.1 : UNJUDGED
  if (quality.score < GOOD) return JUDGED.bad
  const sure = Math.min(1, quality.samples / MANY_SAMPLES)
  return Math.round((JUDGED.least + (JUDGED.most - JUDGED.least) * sure) * 100) / 100
}

/** The target serves such requests already. */
function isProven(used: readonly Used[], target: Target): boolean {
  return used.some((use) => nameOf(use) === nameOf(target) && use.requests >= PROVEN_CALLS && use.errors * 50 < use.requests)
}

function isEasy({ requests, inputTokens, outputTokens }: Used): boolean {
  return inputTokens <= requests * EASY_INPUT_TOKENS && outputTokens <= requests * EASY_OUTPUT_TOKENS
}

/** The cheapest first. */
function cheaperThan(facts: Facts, busiest: Used, targets: readonly Target[]): Cheaper[] {
  return targets
    .flatMap((target): Cheaper[] => {
      if (!target.enabled || nameOf(target) === nameOf(busiest)) return []
      const price = facts.price(target.provider, target.model)
      if (price?.input === undefined || price.output === undefined) return []
      const fresh = busiest.inputTokens - busiest.cacheReadTokens
      const input = fresh * price.input + busiest.cacheReadTokens * (price.cacheRead ?? price.input)
      const costNano = (input + busiest.outputTokens * price.output) / 1e6
      if (costNano > busiest.costNano * (1 - MIN_SAVING)) return []
      const known = facts.quality(nameOf(busiest), nameOf(target))
      return [{ target, costNano, quality: known === null || known.samples < ENOUGH_SAMPLES ? null : known }]
    })
    .sort((a, b) => a.costNano - b.costNano)
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
