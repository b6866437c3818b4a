// The time window of a reporting route: one of four lengths that end now, or a half-open range of UTC days.
import { z } from 'zod'
import { GatewayError } from '../errors/gateway-error.ts'

const DAY_MS = 86_400_000
const LENGTHS = { '1h': DAY_MS / 24, '24h': DAY_MS, '7d': 7 * DAY_MS, '30d': 30 * DAY_MS } as const

const day = z
  .string()
  .regex(/^\d{4}-\d{2}-\d{2}$/, 'must be a day: YYYY-MM-DD')
  .refine((text) => isDay(text), 'is not a day of the calendar')

/** 0 to 366. */
export const backDays = z
  .string()
  .regex(/^\d{1,3}$/, 'must be a whole number')
  .transform(Number)
  .pipe(z.number().max(366, 'must be at most 366'))

/** Members of a query; pass them to `windowOf`. */
export const windowQuery = {
  window: z.enum(['1h', '24h', '7d', '30d']).optional().describe('Up to now; default 24h.'),
  since: day.optional().describe('From the beginning of this day in UTC; instead of `window`.'),
  until: day.optional().describe('Up to the beginning of this day; default: now.'),
  back_days: backDays.optional().describe('The same window this many days earlier, for comparisons.'),
}

/** Epoch ms. */
export interface Window {
  readonly since: number
  readonly until: number
}

export interface WindowQuery {
  window?: keyof typeof LENGTHS | undefined
  since?: string | undefined
  until?: string | undefined
  back_days?: number | undefined
}

/** Returns the window. @throws GatewayError 400. */
export function windowOf({ back_days = 0, ...asked }: WindowQuery, now: number): Window {
  const { since, until } = unshifted(asked, now)
  return { since: since - back_days * DAY_MS, until: until - back_days * DAY_MS }
}

function unshifted({ window, since, until }: WindowQuery, now: number): Window {
  if (since === undefined) {
    if (until !== undefined) throw GatewayError.invalid('until', '`until` needs `since`.')
    return { since: now - LENGTHS[window ?? '24h'], until: now }
  }
  if (window !== undefined) throw GatewayError.invalid('window', 'Say `window`, or `since` and `until`; not both.')
  const from = Date.parse(since)
  const to = until === undefined ? Math.max(now, from) : Date.parse(until)
  if (to <= from) {
    if (until === undefined) throw GatewayError.invalid('since', '`since` is still to come; give `until` too.')
    throw GatewayError.invalid('until', '`until` must be later than `since`.')
  }
  return { since: from, until: to }
}

/** Makes the same check as `windowOf` for a query with one or two instants. Pass it with `NOT_IN_ORDER` to zod's `refine`. */
export function inOrder({ since, until }: { since?: number | undefined; until?: number | undefined }): boolean {
  return since === undefined || until === undefined || since < until
}

/** For `refine(inOrder, NOT_IN_ORDER)`. */
export const NOT_IN_ORDER = { path: ['until'], error: 'must be later than `since`' }

/** Members of an answer that state its window. */
export const windowAnswer = z.strictObject({ since: z.string(), until: z.string() })

export function shownWindow({ since, until }: Window): z.input<typeof windowAnswer> {
  return { since: new Date(since).toISOString(), until: new Date(until).toISOString() }
}

function isDay(text: string): boolean {
  const at = Date.parse(text)
  return Number.isFinite(at) && new Date(at).toISOString().startsWith(text)
}
