// The account of a budget in the ledger: one for each window.
import type { Budget } from './service.ts'
import type { Calendar, Window } from './window.ts'

const PREFIX = 'budget:'

/** As the ledger has them. */
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

/** null: not a budget's. */
export function budgetIdOf(name: string): number | null {
  return name.startsWith(PREFIX) ? Number(name.slice(PREFIX.length)) : null
}
