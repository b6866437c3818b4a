// The events of budgets: exactly its fields.
import type { EventMap } from '../../core/types/plugin.ts'
import type { Entity } from './directory.ts'
import { NANO } from './fields.ts'
import type { Budget, BudgetScope, BudgetWindow } from './service.ts'
import type { Window } from './window.ts'

export interface BudgetEvent {
  readonly budget_id: number
  readonly scope: BudgetScope
  readonly entity_id: number | null
  readonly entity_label: string | null
  readonly window: BudgetWindow
  /** RFC 3339 UTC; absent for lifetime. */
  readonly window_start?: string
  readonly window_end?: string
  readonly limit_usd: number
  readonly spend_usd: number
  /** May be negative. */
  readonly remaining_usd: number
  readonly percent_used: number
  /** 85 or 95; of `budget.threshold_crossed` only. */
  readonly threshold_percent?: number
  /** When known. */
  readonly triggering_request_id?: string
  readonly occurred_at: string
  readonly dedup_key: string
}

declare module '../../core/types/plugin.ts' {
  interface EventMap {
    'budget.threshold_crossed': BudgetEvent
    'budget.crossed': BudgetEvent
    'budget.projected_exceeded': BudgetEvent
  }
}

export type BudgetEventType = 'budget.threshold_crossed' | 'budget.crossed' | 'budget.projected_exceeded'

export const SUBSCRIPTIONS = {
  'budget.threshold_crossed': { defaultOn: true },
  'budget.crossed': { defaultOn: true },
  'budget.projected_exceeded': { defaultOn: true },
} satisfies Partial<Record<keyof EventMap, { defaultOn: boolean }>>

/** The same is not said again for this long. */
export const DEBOUNCE_MS = 86_400_000

export interface Happened {
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

export function dataOf({ type, threshold, budget, entity, window, limit, spent, requestId, at }: Happened): BudgetEvent {
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
