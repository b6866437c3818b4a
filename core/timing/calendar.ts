// Computes calendar windows in one time zone. The limits come from local calendar fields, so that a day may have 23 or 25
// hours. Results are cached: Intl is called once per window.
export type CalendarPeriod = 'hourly' | 'daily' | 'weekly' | 'monthly' | 'yearly' | 'lifetime'

export interface Window {
  /** Epoch ms of the first instant; 0 for `lifetime`. */
  readonly start: number
  /** Epoch ms of the first instant after it; null: it has no end. */
  readonly end: number | null
}

export interface Calendar {
  /** `UTC` when the requested zone is unknown. */
  readonly zone: string
  at(kind: CalendarPeriod, instant: number): Window
}

const LIFETIME: Window = { start: 0, end: null }
/** The current window and the previous one, which late requests still belong to. */
const REMEMBERED = 2

// Local time in an IANA zone from Intl. It costs formatting, so callers cache the results.
const DAY_MS = 86_400_000

interface Zone {
  readonly name: string
  /** Returns the local wall-clock time at an instant, as epoch ms as if it were UTC. */
  wall(instant: number): number
  /**
   * Returns the instant at which local clocks show `wall`: the earlier of two when clocks are set back, the first valid one after the gap
   * when they are set forward.
   */
  instant(wall: number): number
}

/** The default. The first use of Intl takes 3 to 8 ms. */
const UTC: Zone = { name: 'UTC', wall: (instant) => instant, instant: (wall) => wall }

export function isKnownZone(name: string): boolean {
  return zoneOf(name) !== null
}

/** Returns null for an unknown zone. */
function zoneOf(name: string): Zone | null {
  if (name === UTC.name) return UTC
  let format: Intl.DateTimeFormat
  try {
    format = new Intl.DateTimeFormat('en-US', {
      timeZone: name,
      calendar: 'gregory',
      hourCycle: 'h23',
      year: 'numeric',
      month: 'numeric',
      day: 'numeric',
      hour: 'numeric',
      minute: 'numeric',
      second: 'numeric',
    })
  } catch {
    return null
  }
  const wall = (instant: number): number => {
    const shown: Record<string, number> = {}
    for (const { type, value } of format.formatToParts(instant)) shown[type] = Number(value)
    const { year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0 } = shown
    return Date.UTC(year, month - 1, day, hour, minute, second) + (((instant % 1000) + 1000) % 1000)
  }
  const offset = (instant: number): number => wall(instant) - instant

  return {
    name,
    wall,
    instant(shown) {
      // Clocks do not change twice within two days.
      const offsets = [offset(shown - DAY_MS), offset(shown + DAY_MS)] as const
      const candidates = offsets.map((one) => shown - one).sort((a, b) => a - b)
      const found = candidates.find((instant) => wall(instant) === shown)
      return found ?? change(shown - Math.max(...offsets), shown - Math.min(...offsets))
    },
  }

  /** Returns the first instant of the second of two offsets. */
  function change(before: number, after: number): number {
    const old = offset(before)
    let [low, high] = [before, after]
    while (high - low > 1) {
      const middle = Math.floor((low + high) / 2)
      if (offset(middle) === old) low = middle
      else high = middle
    }
    return high
  }
}

export function calendarOf(zoneName: string): Calendar {
  const zone = zoneOf(zoneName) ?? UTC
  const remembered = new Map<CalendarPeriod, Window[]>()
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

function computed(zone: Zone, kind: Exclude<CalendarPeriod, 'lifetime'>, instant: number): Window {
  const shown = zone.wall(instant)
  for (let ahead = 0; ; ahead++) {
    const end = zone.instant(period(kind, shown, ahead + 1))
    // Clocks that are set back over the start of a window show an ended period again.
    if (instant < end) return { start: zone.instant(period(kind, shown, ahead)), end }
  }
}

/** Returns the start of the period that contains `shown`, or of the `ahead`th after it, in local time. */
function period(kind: Exclude<CalendarPeriod, 'lifetime'>, shown: number, ahead: number): number {
  const at = new Date(shown)
  const [year, month, day] = [at.getUTCFullYear(), at.getUTCMonth(), at.getUTCDate()]
  switch (kind) {
    case 'hourly':
      return Date.UTC(year, month, day, at.getUTCHours() + ahead)
    case 'daily':
      return Date.UTC(year, month, day + ahead)
    case 'weekly':
      // Weeks start on Monday.
      return Date.UTC(year, month, day - ((at.getUTCDay() + 6) % 7) + 7 * ahead)
    case 'monthly':
      return Date.UTC(year, month + ahead, 1)
    case 'yearly':
      return Date.UTC(year + ahead, 0, 1)
  }
}
