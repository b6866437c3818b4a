// One order for a request, and the same for a preview: strategies are functions over who is left.
import type { CompiledTarget, Ordering } from '../compiled-model.ts'
import type { VirtualModelConfig } from '../service.ts'
import { ascending } from './cost.ts'
import { byLatency } from './latency.ts'
import { rotated } from './rotation.ts'
import { byWeight, drawn } from './weighted.ts'

export interface Ranked {
  readonly target: CompiledTarget
}

export interface Signals {
  /** The next turn; called at most once, by strategies that take turns. */
  turn(): number
  /** In [0, 1); null: nothing is drawn, the heaviest goes first. */
  readonly random: (() => number) | null
  /** Null: not known. */
  cost(target: CompiledTarget): number | null
  listedPrice(target: CompiledTarget): number | null
  /** Ms; null: not measured. */
  latency(target: CompiledTarget): number | null
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
      return ascending(list, ({ target }) => signals.cost(target))
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
