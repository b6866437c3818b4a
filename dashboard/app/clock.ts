// The current time, by the gateway's clock, as a signal that moves each second while the page is visible, and the formats of points in time.
import { signal } from '@preact/signals'
import { gatewayTime, offset } from '../api/gateway-time.ts'
import { preferences } from './preferences.ts'

export const now = signal(gatewayTime())
setInterval(() => {
  if (document.visibilityState === 'visible') now.value = gatewayTime()
}, 1000)
offset.subscribe(() => {
  now.value = gatewayTime()
})

/** Makes a format when it is first used, because a page needs few of them. */
function formatter(options: Intl.DateTimeFormatOptions): (at: Date) => string {
  const made = new Map<string, Intl.DateTimeFormat>()
  return (at) => {
    const { zone } = preferences.value
    const format = made.get(zone) ?? new Intl.DateTimeFormat('en-GB', { ...options, ...(zone === 'utc' && { timeZone: 'UTC' }) })
    made.set(zone, format)
    return format.format(at)
  }
}

const clockTime = formatter({ hour: '2-digit', minute: '2-digit', second: '2-digit', hour12: false })
const dayAndTime = formatter({ day: 'numeric', month: 'short', hour: '2-digit', minute: '2-digit', hour12: false })
const withYear = formatter({ day: 'numeric', month: 'short', year: 'numeric' })
const full = formatter({ dateStyle: 'medium', timeStyle: 'long', hour12: false })

const DAY_MS = 86_400_000
/** Farther away, a day without its year would be read as one of this year. */
const YEARLESS_MS = 300 * DAY_MS

/** The time of day of the last 24 hours and of this day, otherwise day and time, and far away the day with its year. */
export function shortTime(at: string | number): string {
  const date = new Date(at)
  const ahead = date.getTime() - now.peek()
  if (Math.abs(ahead) >= YEARLESS_MS) return withYear(date)
  const near =
    ahead <= 0
      ? ahead > -DAY_MS
      : ahead < DAY_MS && dayAndTime(date).split(',')[0] === dayAndTime(new Date(now.peek())).split(',')[0]
  return near ? clockTime(date) : dayAndTime(date)
}

export function fullTime(at: string | number): string {
  return full(new Date(at))
}

export function utcTime(at: string | number): string {
  return new Date(at).toISOString()
}

export function zoneName(): string {
  if (preferences.value.zone === 'utc') return 'UTC'
  return (
    Intl.DateTimeFormat('en', { timeZoneName: 'short' })
      .formatToParts()
      .find(({ type }) => type === 'timeZoneName')?.value ?? 'local'
  )
}
