// Rolling windows over the ledger's accounts. Tokens are counted in the minute and in the hour in which a request began: a window is the
// sum of the minutes up to the first whole hour, and of the hours from there.
import type { Services } from '../../core/types/plugin/plugin.ts'

type Balance = Awaited<ReturnType<Services['ledger']['balances']>>[number]
type AccountRange = Parameters<Services['ledger']['sum']>[1][number]

const MINUTE_MS = 60_000
const HOUR_MS = 3_600_000
const DAY_MS = 86_400_000

export const WINDOWS = { hour: HOUR_MS, day: DAY_MS, week: 7 * DAY_MS } as const
export type WindowName = keyof typeof WINDOWS
export const WINDOW_NAMES = Object.keys(WINDOWS) as WindowName[]

/** Every account of the pool has it. */
export const PREFIX = 'free-pool:'
/** Older windows count no more. One day is left for requests that are still running. */
export const KEPT_MS = WINDOWS.week + DAY_MS

export interface OrgAccounts {
  /** Requests of one organization are admitted one after the other. */
  readonly lock: string
  readonly minutes: string
  readonly hours: string
}

export function accountsOf(orgId: number | null): OrgAccounts {
  const name = `${PREFIX}${orgId ?? 0}:`
  return { lock: name, minutes: `${name}m`, hours: `${name}h` }
}

/** The account of all organizations together; its windows are UTC days. */
export const GLOBAL = `${PREFIX}all`

/** The starts of the windows that contain an instant, epoch ms. */
export function startsAt(instant: number): { minute: number; hour: number; day: number } {
  return { minute: floor(instant, MINUTE_MS), hour: floor(instant, HOUR_MS), day: floor(instant, DAY_MS) }
}

export function dayEnd(instant: number): number {
  return floor(instant, DAY_MS) + DAY_MS
}

/** A minute counts until all of it is older than the window. */
export function rangesOf({ minutes, hours }: OrgAccounts, window: WindowName, now: number): AccountRange[] {
  const from = firstMinute(window, now)
  const whole = Math.ceil(from / HOUR_MS) * HOUR_MS
  return [
    { name: minutes, from, until: whole },
    { name: hours, from: whole, until: Number.MAX_SAFE_INTEGER },
  ]
}

export function firstMinute(window: WindowName, now: number): number {
  return floor(now - WINDOWS[window], MINUTE_MS)
}

/**
 * Returns the instant, epoch ms, at which so many tokens have left the window that `amount` fits, if no others are counted; null: it fits
 * never. `now` when it fits already.
 * @param buckets minutes of one organization, oldest first.
 */
export function fitsAt(
  buckets: readonly Balance[],
  window: WindowName,
  limit: number,
  amount: number,
  now: number,
): number | null {
  // A used-up limit refuses requests of any size.
  const room = Math.min(limit - amount, limit - 1)
  if (room < 0) return null
  const counted = buckets.filter(({ windowStart }) => windowStart >= firstMinute(window, now))
  let used = counted.reduce((sum, { spentNano, reservedNano }) => sum + spentNano + reservedNano, 0)
  if (used <= room) return now
  for (const { windowStart, spentNano, reservedNano } of counted) {
    used -= spentNano + reservedNano
    if (used <= room) return windowStart + MINUTE_MS + WINDOWS[window]
  }
  return null
}

function floor(instant: number, unit: number): number {
  return Math.floor(instant / unit) * unit
}
