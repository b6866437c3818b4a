// Facts of a virtual model: largest window, smallest ceiling, all capabilities of
// its targets together, the price of the most expensive one.
import type { ModelPrice } from '../../core/types/prices.ts'
import type { Capability, ModelFacts } from './service.ts'

export function aggregated(targets: readonly ModelFacts[]): ModelFacts {
  const windows = targets.flatMap(({ contextWindow }) => contextWindow ?? [])
  const ceilings = targets.flatMap(({ maxOutputTokens }) => maxOutputTokens ?? [])
  const mode = targets.find((facts) => facts.mode !== undefined)?.mode
  const price = dearest(targets)
  return {
    ...(windows.length > 0 ? { contextWindow: Math.max(...windows) } : {}),
    ...(ceilings.length > 0 ? { maxOutputTokens: Math.min(...ceilings) } : {}),
    ...(mode ? { mode } : {}),
    ...(price ? { price } : {}),
    capabilities: union(targets),
  }
}

function union(targets: readonly ModelFacts[]): Partial<Record<Capability, boolean>> {
  const all: Partial<Record<Capability, boolean>> = {}
  for (const { capabilities } of targets)
    for (const [name, value] of Object.entries(capabilities)) all[name as Capability] = all[name as Capability] === true || value
  return all
}

function dearest(targets: readonly ModelFacts[]): ModelPrice | undefined {
  const cost = (price: ModelPrice) => (price.input ?? 0) + (price.output ?? 0)
  return targets
    .flatMap(({ price }) => price ?? [])
    .reduce<ModelPrice | undefined>((most, price) => (most === undefined || cost(price) > cost(most) ? price : most), undefined)
}
