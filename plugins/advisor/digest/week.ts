// ISO weeks in a time zone: `2026-W47` begins on Monday at midnight there.
import type { Calendar, Window } from '../../../core/timing/calendar.ts'

export const WEEK = /^\d{4}-W(?:0[1-9]|[1-4]\d|5[0-3])$/
const DAY_MS = 86_400_000
const HALF_WEEK_MS = 3.5 * DAY_MS

export interface Week {
  /** `2026-W47`. */
  readonly name: string
  readonly start: number
  readonly end: number
}

/** The last week that is over. */
export function lastWeek(calendar: Calendar, now: number): Week {
  return weekOf(calendar.at('weekly', calendar.at('weekly', now).start - 1))
}

/** Returns null for the week 53 of a year that has 52. */
export function namedWeek(calendar: Calendar, name: string): Week | null {
  const [year = 0, week = 0] = name.split('-W').map(Number)
  // January 4 is always in week 1. Noon of a Thursday is in the same week in every time zone.
  const fourth = new Date(Date.UTC(year, 0, 4))
  const thursday = fourth.getTime() + DAY_MS * (3 - ((fourth.getUTCDay() + 6) % 7) + 7 * (week - 1)) + DAY_MS / 2
  const found = weekOf(calendar.at('weekly', thursday))
  return found.name === name ? found : null
}

function weekOf({ start, end }: Window): Week {
  // In UTC the middle of the week is between Wednesday and Friday; the Thursday of the week decides on its year.
  const middle = new Date(start + HALF_WEEK_MS)
  const thursday = new Date(middle.getTime() + DAY_MS * (3 - ((middle.getUTCDay() + 6) % 7)))
  const year = thursday.getUTCFullYear()
  const week = 1 + Math.floor((thursday.getTime() - Date.UTC(year, 0, 1)) / (7 * DAY_MS))
  return { name: `${year}-W${String(week).padStart(2, '0')}`, start, end: end as number }
}
