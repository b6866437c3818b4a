// demote_target and add_fallback: a target that fails often, and models that an outage of one provider stops.
import type { Facts } from '../facts.ts'
import type { Observed } from '../observed.ts'
import type { Finding } from '../service.ts'
import { hint, isSteered, nameOf, type Target, update } from './targets-of.ts'

const MIN_CALLS = 30
const MIN_FAILED = 0.1

export function demoteTarget(facts: Facts): Finding[] {
  return facts.virtualModels.flatMap((model) => {
    const enabled = model.targets.filter((target) => target.enabled)
    if (!model.enabled || enabled.length < 2 || !isSteered(model)) return []
    return model.targets.flatMap((target) => {
      if (!target.enabled || isLast(model.strategy, enabled, target)) return []
      const { calls, failures } = callsOf(facts.observed, model.name, target)
      if (calls < MIN_CALLS || failures < calls * MIN_FAILED) return []
      const targets = demoted(model.strategy, model.targets, target)
      const share = Math.round((failures / calls) * 100)
      return [
        {
          kind: 'demote_target' as const,
          subject: `${model.id} ${nameOf(target)}`,
          title: `Ask ${nameOf(target)} last in \`${model.name}\``,
          detail: `${failures} of ${calls} calls failed (${share} %). Requests lose time before the next target answers.`,
          estMonthlyUsd: 0,
          confidence: Math.min(0.95, 0.5 + calls / 1000),
          evidence: { virtual_model: model.name, target: nameOf(target), calls, failures, log_filter: `vm:${model.name}` },
          applyAction: update(model, targets),
          applyHint: hint(model, targets),
        },
      ]
    })
  })
}

export function addFallback(facts: Facts): Finding[] {
  const found: Finding[] = []
  for (const model of facts.virtualModels) {
    const enabled = model.targets.filter((target) => target.enabled)
    if (!model.enabled || new Set(enabled.map(({ provider }) => provider)).size !== 1) continue
    const outages = sumOf(facts.observed, ({ virtualModel }) => virtualModel === model.name)
    if (outages > 0)
      found.push(
        fallback(`vm ${model.id}`, `\`${model.name}\``, enabled[0]?.provider ?? '', outages, `vm:${model.name} status:5xx`),
      )
  }
  const raw = new Map<string, number>()
  for (const { virtualModel, outages, ...place } of facts.observed)
    if (virtualModel === '' && outages > 0) raw.set(nameOf(place), (raw.get(nameOf(place)) ?? 0) + outages)
  for (const [name, outages] of raw) {
    const [provider = ''] = name.split('/')
    found.push(fallback(`model ${name}`, name, provider, outages, `model:${name.slice(provider.length + 1)} status:5xx`))
  }
  return found
}

function fallback(subject: string, name: string, provider: string, outages: number, filter: string): Finding {
  return {
    kind: 'add_fallback',
    subject,
    title: `Add a second provider for ${name}`,
    detail: `${name} depends on ${provider} alone. In 14 days five calls in a row failed ${outages === 1 ? 'once' : `${outages} times`}.`,
    estMonthlyUsd: 0,
    confidence: 0.7,
    evidence: { provider, outages, log_filter: filter },
    applyAction: null,
    applyHint: 'Use a virtual model with the strategy `failover` and a target at another provider.',
  }
}

function callsOf(observed: readonly Observed[], name: string, target: Target): { calls: number; failures: number } {
  const rows = observed.filter((row) => row.virtualModel === name && nameOf(row) === nameOf(target))
  return { calls: rows.reduce((sum, row) => sum + row.calls, 0), failures: rows.reduce((sum, row) => sum + row.failures, 0) }
}

function sumOf(observed: readonly Observed[], matches: (row: Observed) => boolean): number {
  return observed.reduce((sum, row) => sum + (matches(row) ? row.outages : 0), 0)
}

function isLast(strategy: string, enabled: readonly Target[], target: Target): boolean {
  return strategy === 'failover' ? enabled.at(-1) === target : strategy === 'weighted' && target.weight === 0
}

function demoted(strategy: string, targets: readonly Target[], bad: Target): readonly Target[] {
  if (strategy === 'failover') return [...targets.filter((target) => target !== bad), bad]
  if (strategy === 'load_balance') return targets.map((target) => (target === bad ? { ...target, enabled: false } : target))
  return targets.map((target) => (target === bad ? { ...target, weight: 0 } : target))
}
