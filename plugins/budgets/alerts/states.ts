// The notification state of each budget as rows: whether a threshold is passed in a window, and the time of its last event.
import { z } from 'zod'
import { sql } from '../../../core/db/sql.ts'
import type { Db } from '../../../core/types/ports/db.ts'

/** An event is not repeated within this time. */
export const DEBOUNCE_MS = 86_400_000

export interface State {
  readonly windowStart: number
  readonly type: string
  readonly threshold: number
  readonly above: boolean
  /** Epoch ms; 0: never. */
  readonly lastAt: number
}

const int = z.number().int()
const stateRow = z
  .object({ window_start: int, type: z.string(), threshold: int, above: int, last_at: int })
  .transform(({ window_start, type, threshold, above, last_at }): State => {
    return { windowStart: window_start, type, threshold, above: above !== 0, lastAt: last_at }
  })

/** Returns the states of all windows, because an event of one window is not repeated at once in the next. */
export function statesOf(db: Db, budgetId: number): Promise<State[]> {
  return db.all(
    sql`SELECT window_start, type, threshold, above, last_at FROM budgets_states WHERE budget_id = ${budgetId}
        ORDER BY type, threshold, window_start`,
    stateRow,
  )
}

export async function allStates(db: Db): Promise<Map<number, State[]>> {
  const rows = await db.all(
    sql`SELECT budget_id, window_start, type, threshold, above, last_at FROM budgets_states`,
    z.looseObject({ budget_id: int }),
  )
  const states = new Map<number, State[]>()
  for (const row of rows) states.set(row.budget_id, [...(states.get(row.budget_id) ?? []), stateRow.parse(row)])
  return states
}

export async function putState(db: Db, budgetId: number, { windowStart, type, threshold, above, lastAt }: State): Promise<void> {
  await db.run(
    sql`INSERT INTO budgets_states (budget_id, window_start, type, threshold, above, last_at)
        VALUES (${budgetId}, ${windowStart}, ${type}, ${threshold}, ${above}, ${lastAt})
        ON CONFLICT (budget_id, type, threshold, window_start) DO UPDATE SET above = excluded.above, last_at = excluded.last_at`,
  )
}

/** Deletes ended windows that have no reservation any more. */
export async function forgetStates(db: Db, budgetId: number, windowStart: number, saidBefore: number): Promise<void> {
  await db.run(
    sql`DELETE FROM budgets_states WHERE budget_id = ${budgetId} AND window_start < ${windowStart} AND last_at < ${saidBefore}`,
  )
}

/** Deletes the states of a removed budget. */
export async function dropStates(db: Db, budgetId: number): Promise<void> {
  await db.run(sql`DELETE FROM budgets_states WHERE budget_id = ${budgetId}`)
}

// The last known notification states. An evaluation that finds no change reads and writes no rows.
interface Level {
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

  /** Returns whether a row must be written or an event sent. */
  isNews(budgetId: number, windowStart: number, level: Level & { readonly above: boolean }, now: number): boolean {
    const states = this.#budgets.get(budgetId) ?? []
    const wasAbove = states.some((state) => state.windowStart === windowStart && isOf(state, level) && state.above)
    if (wasAbove === level.above) return false
    return !level.above || !this.isQuiet(budgetId, level, now)
  }

  /** Returns whether the event was sent within the last day, in any window. */
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
