// The current time as a signal that moves each second while the page is visible, and the formats of points in time.
import { signal } from '@preact/signals'
import { preferences } from './preferences.ts'

export const now = signal(Date.now())
setInterval(() => {
  if (document.visibilityState === 'visible') now.value = Date.now()
}, 1000)

function formatter(options: Intl.DateTimeFormatOptions): (at: Date) => string {
  const local = new Intl.DateTimeFormat('en-GB', options)
  const utc = new Intl.DateTimeFormat('en-GB', { ...options, timeZone: 'UTC' })
  return (at) => (preferences.value.zone === 'utc' ? utc : local).format(at)
}

const clockTime = formatter({ hour: '2-digit', minute: '2-digit', second: '2-digit', hour12: false })
const dayAndTime = formatter({ day: 'numeric', month: 'short', hour: '2-digit', minute: '2-digit', hour12: false })
const full = formatter({ dateStyle: 'medium', timeStyle: 'long', hour12: false })

/** The time of day within 24 hours, otherwise day and time. */
export function shortTime(at: string | number): string {
  const date = new Date(at)
  return Math.abs(now.peek() - date.getTime()) < 86_400_000 ? clockTime(date) : dayAndTime(date)
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
