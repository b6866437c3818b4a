// The account of a budget in the ledger: one per window.
import type { Calendar, Window } from '../../core/timing/calendar.ts'
import type { Budget } from './service.ts'

export const PREFIX = 'budget:'

/** The account in the ledger's form. */
export interface BudgetAccount {
  readonly name: string
  readonly windowStart: number
}

export function accountOf(budget: Budget, window: Window): BudgetAccount {
  return { name: PREFIX + budget.id, windowStart: window.start }
}

export function accountAt(budget: Budget, calendar: Calendar, instant: number): BudgetAccount {
  return accountOf(budget, calendar.at(budget.window, instant))
}

/** Returns null when the account does not belong to a budget. */
export function budgetIdOf(name: string): number | null {
  return name.startsWith(PREFIX) ? Number(name.slice(PREFIX.length)) : null
}
