// The current limit of a budget: its hard limit plus active increases. Computed on each use, so that an increase ends by itself.
import { MAX_USD, nanoOf } from './fields.ts'
import type { Budget, BudgetIncrease } from './service.ts'

export function isActive({ expiresAt }: BudgetIncrease, now: number): boolean {
  return now < expiresAt
}

/** Nano-USD, however high increases add up: below what an estimate that is out of range counts as, so that it never fits. */
export const MAX_LIMIT_NANO = nanoOf(MAX_USD)

/** Nano-USD. */
export function limitOf({ hardLimitNano, increases }: Budget, now: number): number {
  let limit = hardLimitNano
  for (const increase of increases) if (isActive(increase, now)) limit += increase.amountNano
  return Math.min(limit, MAX_LIMIT_NANO)
}
