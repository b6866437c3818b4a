// Orders the remaining targets of a request, or of a preview. Strategies are functions over them.
import type { CompiledTarget, Ordering } from '../planning/compiled-model.ts'
import type { VirtualModelConfig } from '../service.ts'
import { ascending } from './cost.ts'
import { rotated } from './rotation.ts'
import { byWeight, drawn } from './weighted.ts'

export interface Ranked {
  readonly target: CompiledTarget
}

export interface Signals {
  /** Returns the next turn; called at most once, by strategies that take turns. */
  turn(): number
  /** Returns a number in [0, 1); null: no draw, the heaviest target is first. */
  readonly random: (() => number) | null
  /** Returns null when unknown. */
  cost(target: CompiledTarget): number | null
  listedPrice(target: CompiledTarget): number | null
  /** Returns 0 to 1, to choose among equal costs; null: unknown, or not to be used. */
  quality(target: CompiledTarget): number | null
  /** Returns ms; null: not measured. */
  latency(target: CompiledTarget): number | null
}

/** @param turn called only when several targets are about equally fast. */
export function byLatency<T>(list: readonly T[], latencyOf: (one: T) => number | null, buffer: number, turn: () => number): T[] {
  const measured = list.map((one) => ({ one, ms: latencyOf(one) }))
  const best = Math.min(...measured.map(({ ms }) => ms ?? Number.POSITIVE_INFINITY))
  if (best === Number.POSITIVE_INFINITY && buffer === 0) return [...list]
  const sorted = measured
    .map(({ one, ms }) => ({ one, ms: ms ?? best, known: ms === null ? 0 : 1 }))
    .sort((a, b) => (a.ms === b.ms ? a.known - b.known : a.ms - b.ms))
  if (buffer === 0) return sorted.map(({ one }) => one)
  const quick = sorted.filter(({ ms }) => ms <= best * (1 + buffer))
  const alike = quick.length > 1 ? rotated(quick, turn()) : quick
  return [...alike, ...sorted.slice(quick.length)].map(({ one }) => one)
}

/** Orders `list` (in declared order): the target to try first comes first. The result keeps every target. */
export function ordered<T extends Ranked>(
  ordering: Ordering,
  list: readonly T[],
  { latencyBuffer }: VirtualModelConfig,
  signals: Signals,
): readonly T[] {
  switch (ordering) {
    case 'load_balance':
      return rotated(list, signals.turn())
    case 'weighted':
      return signals.random === null ? byWeight(list) : drawn(list, signals.random)
    case 'cost_optimized':
      return ascending(
        list,
        ({ target }) => signals.cost(target),
        ({ target }) => signals.quality(target),
      )
    case 'listed_price':
      return ascending(list, ({ target }) => signals.listedPrice(target))
    case 'latency_based':
      return byLatency(list, ({ target }) => signals.latency(target), latencyBuffer, signals.turn)
    // These strategies call several targets, or keep the listed order.
    case 'failover':
    case 'fusion':
    case 'pipeline':
      return list
  }
}
