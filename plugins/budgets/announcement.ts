// Events of one budget, said in one transaction with the rows that remember it: two replicas say it once, and what was said is
// queued or was not said.
import type { Db } from '../../core/types/db.ts'
import type { Services } from '../../core/types/plugin.ts'
import { isOf, isRecent } from './alert-history.ts'
import type { Entity } from './directory.ts'
import { type BudgetEvent, type BudgetEventType, DEBOUNCE_MS, dataOf } from './events.ts'
import { limitOf } from './limit.ts'
import type { Budget } from './service.ts'
import { forgetStates, putState, type State, statesOf } from './states.ts'
import type { Window } from './window.ts'

/** A level that has an event. */
export interface BudgetLevel {
  readonly type: BudgetEventType
  /** Percent of the limit. */
  readonly threshold: number
  readonly above: boolean
}

export interface Occasion {
  readonly budget: Budget
  readonly entity: Entity
  readonly window: Window
  /** Nano-USD, read in the same transaction. */
  readonly spent: number
  /** With the request that led to it, when known. */
  readonly levels: readonly (BudgetLevel & { readonly requestId: string | null })[]
  /** Epoch ms. */
  readonly now: number
}

export interface Announced {
  readonly states: readonly State[]
  readonly events: readonly { readonly type: BudgetEventType; readonly data: BudgetEvent }[]
}

/** @param tx inside a transaction, which may run again. */
export async function announce(tx: Db, occasion: Occasion, outbox: Services['outbox'] | undefined): Promise<Announced> {
  const { budget, entity, window, spent, levels, now } = occasion
  const limit = limitOf(budget, now)
  const before = await statesOf(tx, budget.id)
  const states: State[] = []
  const events: { type: BudgetEventType; data: BudgetEvent }[] = []
  for (const level of levels) {
    const { type, threshold, above, requestId } = level
    const same = before.filter((state) => isOf(state, level))
    const own = same.find(({ windowStart }) => windowStart === window.start)
    const wasAbove = own?.above ?? false
    const lastAt = Math.max(0, ...same.map((state) => state.lastAt))
    // A refusal cannot be undone within a window, so each one is a crossing.
    const passes = above && (!wasAbove || type === 'budget.crossed') && !isRecent(lastAt, now)
    const state = { windowStart: window.start, type, threshold, above: above && (wasAbove || passes) }
    states.push({ ...state, lastAt: passes ? now : lastAt })
    if (passes || state.above !== wasAbove) await putState(tx, budget.id, { ...state, lastAt: passes ? now : (own?.lastAt ?? 0) })
    if (!passes) continue
    const data = dataOf({ type, threshold, budget, entity, window, limit, spent, requestId, at: now })
    events.push({ type, data })
    const queued = outbox?.statements({
      type,
      orgId: budget.orgId,
      data: { ...data },
      occurredAt: now,
      dedup: { key: data.dedup_key, ttlMs: DEBOUNCE_MS },
    })
    for (const { sql } of queued ?? []) await tx.run(sql)
  }
  if (events.length > 0) await forgetStates(tx, budget.id, window.start, now - DEBOUNCE_MS)
  return { states, events }
}
