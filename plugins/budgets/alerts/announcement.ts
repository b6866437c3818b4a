// Emits the events of one budget in one transaction with the rows of its notification state. So several replicas emit an event once, and
// an event is recorded and queued, or neither.

import type { Window } from '../../../core/timing/calendar.ts'
import type { EventMap, Services } from '../../../core/types/plugin/plugin.ts'
import type { Db } from '../../../core/types/ports/db.ts'
import type { Entity } from '../directory.ts'
import { limitOf } from '../limit.ts'
import { NANO } from '../resource.ts'
import type { Budget, BudgetScope, BudgetWindow } from '../service.ts'
import { DEBOUNCE_MS, forgetStates, isOf, isRecent, putState, type State, statesOf } from './states.ts'

export interface BudgetEvent {
  readonly budget_id: number
  readonly scope: BudgetScope
  readonly entity_id: number | null
  readonly entity_label: string | null
  readonly window: BudgetWindow
  /** RFC 3339 UTC; absent for a lifetime budget. */
  readonly window_start?: string
  readonly window_end?: string
  readonly limit_usd: number
  readonly spend_usd: number
  /** May be negative. */
  readonly remaining_usd: number
  readonly percent_used: number
  /** 85 or 95; only in `budget.threshold_crossed`. */
  readonly threshold_percent?: number
  /** When known. */
  readonly triggering_request_id?: string
  readonly occurred_at: string
  readonly dedup_key: string
}

declare module '../../../core/types/plugin/plugin.ts' {
  interface EventMap {
    'budget.threshold_crossed': BudgetEvent
    'budget.crossed': BudgetEvent
    'budget.projected_exceeded': BudgetEvent
  }
}

type BudgetEventType = 'budget.threshold_crossed' | 'budget.crossed' | 'budget.projected_exceeded'

export const SUBSCRIPTIONS = {
  'budget.threshold_crossed': { defaultOn: true },
  'budget.crossed': { defaultOn: true },
  'budget.projected_exceeded': { defaultOn: true },
} satisfies Partial<Record<keyof EventMap, { defaultOn: boolean }>>

interface Happened {
  readonly type: BudgetEventType
  /** Percent of the limit. */
  readonly threshold: number
  readonly budget: Budget
  readonly entity: Entity
  readonly window: Window
  /** Nano-USD. */
  readonly limit: number
  readonly spent: number
  readonly requestId: string | null
  /** Epoch ms. */
  readonly at: number
}

function dataOf({ type, threshold, budget, entity, window, limit, spent, requestId, at }: Happened): BudgetEvent {
  return {
    budget_id: budget.id,
    scope: budget.scope,
    entity_id: entity.id,
    entity_label: entity.label,
    window: budget.window,
    ...(window.end === null ? {} : { window_start: time(window.start), window_end: time(window.end) }),
    limit_usd: limit / NANO,
    spend_usd: spent / NANO,
    remaining_usd: (limit - spent) / NANO,
    percent_used: percentOf(spent, limit),
    ...(type === 'budget.threshold_crossed' ? { threshold_percent: threshold } : {}),
    ...(requestId === null ? {} : { triggering_request_id: requestId }),
    occurred_at: time(at),
    dedup_key: `${budget.id}:${threshold}`,
  }
}

/** A limit of 0 is always fully used. */
export function percentOf(spent: number, limit: number): number {
  return limit === 0 ? 100 : (spent / limit) * 100
}

export function time(at: number): string {
  return new Date(at).toISOString()
}

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
  /** Each level with the request that caused it, when known. */
  readonly levels: readonly (BudgetLevel & { readonly requestId: string | null })[]
  /** Epoch ms. */
  readonly now: number
}

export interface Announced {
  readonly states: readonly State[]
  readonly events: readonly { readonly type: BudgetEventType; readonly data: BudgetEvent }[]
}

/** @param tx a transaction, which may run again. */
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
    // A refusal has no lower level to return to, so each one counts as a crossing.
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
