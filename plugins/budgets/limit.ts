// The current limit of a budget: its hard limit plus active increases. Computed on each use, so that an increase ends by itself.

import type { Window } from '../../core/timing/calendar.ts'
import { MAX_USD, nanoOf } from './resource.ts'
import type { Budget, BudgetIncrease } from './service.ts'

export function isActive({ expiresAt }: BudgetIncrease, now: number): boolean {
  return now < expiresAt
}

/**
 * The highest possible limit, nano-USD, also with increases. It is below the value of an estimate out of range, so that such an estimate
 * never fits.
 */
export const MAX_LIMIT_NANO = nanoOf(MAX_USD)

/** Nano-USD. */
export function limitOf({ hardLimitNano, increases }: Budget, now: number): number {
  let limit = hardLimitNano
  for (const increase of increases) if (isActive(increase, now)) limit += increase.amountNano
  return Math.min(limit, MAX_LIMIT_NANO)
}

// Projects a budget's spending to the end of its window at the current rate.
const LEAST_ELAPSED = 0.1
const LEAST_REQUESTS = 10

/** Returns nano-USD; null when it is too early. @param requests number of requests that spent it. */
export function projected(window: Window, spent: number, requests: number, now: number): number | null {
  const { start, end } = window
  if (end === null) return null
  const elapsed = (now - start) / (end - start)
  if (elapsed < LEAST_ELAPSED || elapsed > 1) return null
  if (spent === 0) return 0
  return requests < LEAST_REQUESTS ? null : Math.min(Math.round(spent / elapsed), Number.MAX_SAFE_INTEGER)
}
