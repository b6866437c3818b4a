// Calendar windows of budgets in one time zone. Bounds come from local calendar fields, so that a day may have 23 or 25 hours. Results are
// cached: Intl is called once per window.
import type { BudgetWindow } from './service.ts'
import { type Zone, zoneOf } from './zone.ts'

export interface Window {
  /** Epoch ms, the first instant; 0 for `lifetime`. */
  readonly start: number
  /** The first instant that is not in it any more; null: it has no end. */
  readonly end: number | null
}

export interface Calendar {
  /** `UTC` where the wanted zone is not known. */
  readonly zone: string
  at(kind: BudgetWindow, instant: number): Window
}

const LIFETIME: Window = { start: 0, end: null }
/** The current one and the one before, which late requests still belong to. */
const REMEMBERED = 2

export function calendarOf(zoneName: string): Calendar {
  const zone = zoneOf(zoneName) ?? (zoneOf('UTC') as Zone)
  const remembered = new Map<BudgetWindow, Window[]>()
  return {
    zone: zone.name,
    at(kind, instant) {
      if (kind === 'lifetime') return LIFETIME
      let windows = remembered.get(kind)
      if (windows === undefined) {
        windows = []
        remembered.set(kind, windows)
      }
      for (const window of windows) if (window.start <= instant && instant < (window.end as number)) return window
      const window = computed(zone, kind, instant)
      windows.unshift(window)
      windows.length = Math.min(windows.length, REMEMBERED)
      return window
    },
  }
}

function computed(zone: Zone, kind: Exclude<BudgetWindow, 'lifetime'>, instant: number): Window {
  const shown = zone.wall(instant)
  for (let ahead = 0; ; ahead++) {
    const end = zone.instant(period(kind, shown, ahead + 1))
    // Clocks that are set back over a bound show a period again that has ended.
    if (instant < end) return { start: zone.instant(period(kind, shown, ahead)), end }
  }
}

/** Start of the period that `shown` lies in, or of the `ahead`th behind it, as clocks show it. */
function period(kind: Exclude<BudgetWindow, 'lifetime'>, shown: number, ahead: number): number {
  const at = new Date(shown)
  const [year, month, day] = [at.getUTCFullYear(), at.getUTCMonth(), at.getUTCDate()]
  switch (kind) {
    case 'hourly':
      return Date.UTC(year, month, day, at.getUTCHours() + ahead)
    case 'daily':
      return Date.UTC(year, month, day + ahead)
    case 'weekly':
      // Monday is the first day.
      return Date.UTC(year, month, day - ((at.getUTCDay() + 6) % 7) + 7 * ahead)
    case 'monthly':
      return Date.UTC(year, month + ahead, 1)
    case 'yearly':
      return Date.UTC(year + ahead, 0, 1)
  }
}
