// One format for each kind of figure. An unknown value is "—", never zero.

export const UNKNOWN = '—'

const whole = numbers({ maximumFractionDigits: 0 })
const compactNumber = numbers({ notation: 'compact', maximumFractionDigits: 1 })
const cents = numbers({ style: 'currency', currency: 'USD' })
const small = numbers({ style: 'currency', currency: 'USD', maximumSignificantDigits: 4, maximumFractionDigits: 12 })

/** Makes a format when it is first used, because a page needs few of them. */
function numbers(options: Intl.NumberFormatOptions): (value: number) => string {
  let made: Intl.NumberFormat | undefined
  return (value) => {
    made ??= new Intl.NumberFormat('en', options)
    return made.format(value)
  }
}

/** US dollars: two decimals from $1 on, below that four significant digits and at least two decimals. */
export function money(usd: number | null | undefined): string {
  if (usd === null || usd === undefined) return UNKNOWN
  if (usd === 0) return '$0.00'
  const precise = small(usd)
  return Math.abs(usd) >= 1 || (precise.split('.')[1]?.length ?? 0) < 2 ? cents(usd) : precise
}

/** The exact value, for titles. */
export function exactMoney(usd: number | null | undefined): string {
  return usd === null || usd === undefined ? 'The price is not known.' : `$${usd.toFixed(9)}`
}

export function count(value: number | null | undefined): string {
  return value === null || value === undefined ? UNKNOWN : whole(value)
}

export function compact(value: number | null | undefined): string {
  return value === null || value === undefined ? UNKNOWN : compactNumber(value)
}

/** @param share 0 … 1 */
export function percent(share: number | null | undefined): string {
  if (share === null || share === undefined || !Number.isFinite(share)) return UNKNOWN
  const value = share * 100
  // 99.96 % is not 100 %.
  const digits = value > 99 && value < 100 ? 2 : value < 10 || value > 99 ? 1 : 0
  return `${trimmed(value > 99 && value < 100 ? Math.floor(value * 100) / 100 : value, digits)} %`
}

export function ms(value: number | null | undefined): string {
  if (value === null || value === undefined) return UNKNOWN
  if (value < 1000) return `${Math.round(value)} ms`
  if (value < 60_000) return `${trimmed(value / 1000, value < 10_000 ? 2 : 1)} s`
  return span(value)
}

/** A time span in its two largest units: `4 m 20 s`. */
export function span(value: number): string {
  const seconds = Math.max(0, Math.round(value / 1000))
  const parts: [number, string][] = [
    [Math.floor(seconds / 86_400), 'd'],
    [Math.floor(seconds / 3600) % 24, 'h'],
    [Math.floor(seconds / 60) % 60, 'm'],
    [seconds % 60, 's'],
  ]
  const first = parts.findIndex(([amount]) => amount > 0)
  if (first === -1) return '0 s'
  return parts
    .slice(first, first + 2)
    .filter(([amount]) => amount > 0)
    .map(([amount, unit]) => `${amount} ${unit}`)
    .join(' ')
}

export function bytes(value: number | null | undefined): string {
  if (value === null || value === undefined) return UNKNOWN
  if (value < 1024) return `${value} B`
  return value < 1024 * 1024 ? `${trimmed(value / 1024, 1)} KiB` : `${trimmed(value / 1024 / 1024, 1)} MiB`
}

function trimmed(value: number, digits: number): string {
  return value.toFixed(digits).replace(/\.0+$/, '')
}
