// Figures and times in their one format, with the exact value as title.
import { fullTime, now, shortTime, utcTime } from '../app/clock.ts'
import { exactMoney, money, span, UNKNOWN } from '../app/format.ts'

export function Money({ usd }: { usd: number | null | undefined }) {
  return (
    <span class="figure" title={exactMoney(usd)}>
      {money(usd)}
    </span>
  )
}

export function Time({ at }: { at: string | number | null | undefined }) {
  if (at === null || at === undefined) return <span>{UNKNOWN}</span>
  return (
    <time dateTime={utcTime(at)} title={`${fullTime(at)} · ${utcTime(at)}`}>
      {shortTime(at)}
    </time>
  )
}

/** `4 m 20 s ago`, or `in 24 s` for the future; it counts by itself. */
export function Ago({ at }: { at: string | number | null | undefined }) {
  if (at === null || at === undefined) return <span>{UNKNOWN}</span>
  const passed = now.value - new Date(at).getTime()
  const text = passed < -999 ? `in ${span(-passed)}` : passed < 1000 ? 'now' : `${span(passed)} ago`
  return (
    <time dateTime={utcTime(at)} title={`${fullTime(at)} · ${utcTime(at)}`}>
      {text}
    </time>
  )
}
