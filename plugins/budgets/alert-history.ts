// The last known notification states. An evaluation that finds no change reads and writes no rows.
import { DEBOUNCE_MS } from './events.ts'
import type { State } from './states.ts'

export interface Level {
  readonly type: string
  readonly threshold: number
}

export class AlertHistory {
  #budgets = new Map<number, readonly State[]>()

  replace(budgets: Map<number, readonly State[]>): void {
    this.#budgets = budgets
  }

  learn(budgetId: number, states: readonly State[]): void {
    const before = this.#budgets.get(budgetId) ?? []
    const others = before.filter((old) => !states.some((state) => state.windowStart === old.windowStart && isOf(old, state)))
    this.#budgets.set(budgetId, [...others, ...states])
  }

  /** A row is to be written, or an event to be sent. */
  isNews(budgetId: number, windowStart: number, level: Level & { readonly above: boolean }, now: number): boolean {
    const states = this.#budgets.get(budgetId) ?? []
    const wasAbove = states.some((state) => state.windowStart === windowStart && isOf(state, level) && state.above)
    if (wasAbove === level.above) return false
    return !level.above || !this.isQuiet(budgetId, level, now)
  }

  /** It was said within the day, in whatever window. */
  isQuiet(budgetId: number, level: Level, now: number): boolean {
    const states = this.#budgets.get(budgetId) ?? []
    return states.some((state) => isOf(state, level) && isRecent(state.lastAt, now))
  }
}

export function isOf(state: State, { type, threshold }: Level): boolean {
  return state.type === type && state.threshold === threshold
}

export function isRecent(lastAt: number, now: number): boolean {
  return lastAt > 0 && now - lastAt < DEBOUNCE_MS
}
