// Local time in an IANA zone, by what Intl knows of it. Costs some formatting: callers remember what they got.

const DAY_MS = 86_400_000

export interface Zone {
  readonly name: string
  /** Local wall-clock time at an instant, as epoch ms as if it were UTC. */
  wall(instant: number): number
  /**
   * The instant at which clocks there show `wall`: the earlier of two where they are set back, the first valid one behind the
   * gap where they are set forward over it.
   */
  instant(wall: number): number
}

/** null for an unknown zone. */
export function zoneOf(name: string): Zone | null {
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
      // No clock is changed twice within two days.
      const offsets = [offset(shown - DAY_MS), offset(shown + DAY_MS)] as const
      const candidates = offsets.map((one) => shown - one).sort((a, b) => a - b)
      const found = candidates.find((instant) => wall(instant) === shown)
      return found ?? change(shown - Math.max(...offsets), shown - Math.min(...offsets))
    },
  }

  /** The first instant of the second of two offsets. */
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
