// What a budget will have spent at the end of its window when it goes on like this (CONTRACTS 7.4.7).
import type { Services } from '../../core/types/plugin.ts'
import type { Entity } from './directory.ts'
import { usageOf } from './restate.ts'
import type { Budget } from './service.ts'
import type { Window } from './window.ts'

const LEAST_ELAPSED = 0.1
const LEAST_REQUESTS = 10
/** Steps that are looked at for them: a request may have several. */
const ROWS = 200
const MAX_REMEMBERED = 5000

export interface Projections {
  /** Nano-USD; null where it is too early to say. */
  of(budget: Budget, entity: Entity, window: Window, spent: number, now: number): Promise<number | null>
}

/** The straight line, without asking how many requests it stands on. */
export function straight(window: Window, spent: number, now: number): number | null {
  const { start, end } = window
  if (end === null) return null
  const elapsed = (now - start) / (end - start)
  if (elapsed < LEAST_ELAPSED || elapsed > 1) return null
  return Math.min(Math.round(spent / elapsed), Number.MAX_SAFE_INTEGER)
}

export function projections(usage: Pick<Services['ledger']['usage'], 'newest'>): Projections {
  /** Windows that have enough requests: they keep them. */
  const enough = new Set<string>()
  return {
    async of(budget, entity, window, spent, now) {
      const projected = straight(window, spent, now)
      if (projected === null || spent === 0) return projected === null ? null : 0
      const name = `${budget.id} ${window.start} ${budget.window}`
      if (!enough.has(name)) {
        const filter = usageOf(budget, entity, window)
        if (filter === null) return null
        const requests = new Set<string>()
        await usage.newest(filter, ROWS, ({ requestId }) => void requests.add(requestId))
        if (requests.size < LEAST_REQUESTS) return null
        if (enough.size >= MAX_REMEMBERED) enough.clear()
        enough.add(name)
      }
      return projected
    },
  }
}
