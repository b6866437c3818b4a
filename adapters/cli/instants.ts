// Reads the times of flags such as `--since` and `--expires`.
import { failUsage } from './fail.ts'

const UNIT_MS = { m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 } as const
/** The API's times have four digits for the year. */
const END = Date.parse('9999-12-31')

/** Days are days of UTC, as in the reports. Times without an offset are local, as the commands print them. */
const FORMS =
  '`15m`, `2h`, `30d` or `1w`; a time of day `14:30` or `14:30:05`; a day of UTC `2027-01-31`; `2027-01-31 14:30:05`; or RFC 3339 such as `2027-01-31T14:30:05Z`'

/** For the help of a flag. */
export const TIME_FORMS = '15m, 14:30, 14:30:05, 2027-01-31, RFC 3339'

/** `15m` is that long ago, and `14:30` the last one. @returns RFC 3339; undefined when the flag is absent. @throws WrongUsage */
export function past(flag: string, text: string | undefined, now = Date.now()): string | undefined {
  return text === undefined ? undefined : instant(flag, text, now, -1)
}

/** `15m` is that long from now, and `14:30` the next one. @returns as `past` */
export function future(flag: string, text: string | undefined, now = Date.now()): string | undefined {
  return text === undefined ? undefined : instant(flag, text, now, 1)
}

function instant(flag: string, text: string, now: number, direction: -1 | 1): string {
  const at = ago(text, now, direction) ?? timeOfDay(text, now, direction) ?? stamp(text)
  if (at !== null && at >= 0 && at < END) return new Date(at).toISOString()
  return failUsage(`\`--${flag}\`: \`${text.slice(0, 60)}\` is not a time. Say ${FORMS}.`)
}

function ago(text: string, now: number, direction: -1 | 1): number | null {
  const [, amount, unit] = /^(\d{1,6})([mhdw])$/.exec(text) ?? []
  return amount === undefined ? null : now + direction * Number(amount) * UNIT_MS[unit as keyof typeof UNIT_MS]
}

const CLOCK = '([01]\\d|2[0-3]):([0-5]\\d)(?::([0-5]\\d))?'
const TIME_OF_DAY = new RegExp(`^${CLOCK}$`)

/** Today, or a day earlier or later when that is on the wrong side of now. */
function timeOfDay(text: string, now: number, direction: -1 | 1): number | null {
  const [, hours, minutes, seconds = '0'] = TIME_OF_DAY.exec(text) ?? []
  if (hours === undefined) return null
  const today = new Date(now)
  const on = (days: number): number =>
    new Date(
      today.getFullYear(),
      today.getMonth(),
      today.getDate() + days,
      Number(hours),
      Number(minutes),
      Number(seconds),
    ).getTime()
  const at = on(0)
  return (at - now) * direction >= 0 ? at : on(direction)
}

const STAMP = new RegExp(`^(\\d{4}-\\d\\d-\\d\\d)(?:[Tt ]${CLOCK}(?:\\.\\d{1,9})?([Zz]|[+-]\\d\\d:[0-5]\\d)?)?$`)

function stamp(text: string): number | null {
  const [, day] = STAMP.exec(text) ?? []
  // Date.parse takes the 31st of every month.
  if (day === undefined || !isDay(day)) return null
  const at = Date.parse(text.replace(/[t ]/, 'T').replace('z', 'Z'))
  return Number.isNaN(at) ? null : at
}

function isDay(text: string): boolean {
  const at = Date.parse(text)
  return !Number.isNaN(at) && new Date(at).toISOString().startsWith(text)
}
