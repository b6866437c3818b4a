// Budgets of thinking for upstreams that take tokens instead of an effort.
import type { Effort } from '../../../core/types/request/canonical.ts'

/** The lowest budget that a vendor takes. */
export const LEAST_BUDGET = 1024

/** Tokens. The budget of `max` depends on the vendor. */
export const EFFORT_BUDGETS: Readonly<Record<Exclude<Effort, 'max'>, number>> = {
  none: 0,
  minimal: 1024,
  low: 4096,
  medium: 10_000,
  high: 24_000,
  xhigh: 32_000,
}
