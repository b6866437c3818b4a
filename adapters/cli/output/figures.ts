// Formats figures for people: money, counts, times and bars. Scripts use `--json`.

/** Returns cents and more with two to four digits, smaller amounts with all needed digits; `-` for unknown. */
export function usd(value: number | null): string {
  if (value === null) return '-'
  if (value === 0) return '$0'
  const digits = Math.abs(value) >= 100 ? 2 : Math.abs(value) >= 0.01 ? 4 : 6
  const text = value.toFixed(digits)
  // A smaller amount must not look like zero.
  return Number(text) === 0 ? `${value < 0 ? '-' : ''}<$0.000001` : `${value < 0 ? '-' : ''}$${text.replace('-', '')}`
}

export function count(value: number): string {
  for (const [unit, size] of UNITS) if (Math.abs(value) >= size * 10) return `${(value / size).toFixed(1)}${unit}`
  return String(value)
}

const UNITS = [
  ['G', 1e9],
  ['M', 1e6],
  ['k', 1e3],
] as const

export function milliseconds(value: number | null): string {
  if (value === null) return '-'
  return value < 10_000 ? `${value} ms` : `${(value / 1000).toFixed(1)} s`
}

/** Returns `2026-11-21 20:15:03` in the local time zone. */
export function localTime(instant: string): string {
  const at = new Date(instant)
  const two = (value: number) => String(value).padStart(2, '0')
  const day = `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())}`
  return `${day} ${two(at.getHours())}:${two(at.getMinutes())}:${two(at.getSeconds())}`
}

const EIGHTHS = ['', '▏', '▎', '▍', '▌', '▋', '▊', '▉']

/** @param share 0 to 1; any share above 0 is visible. */
export function bar(share: number, width: number): string {
  const eighths = Math.min(width * 8, Math.max(share > 0 ? 1 : 0, Math.round(share * width * 8)))
  return '█'.repeat(Math.floor(eighths / 8)) + EIGHTHS[eighths % 8]
}

const STEPS = '▁▂▃▄▅▆▇█'

/** Draws one character per value: the highest is full, zero is a dot. */
export function sparkline(values: readonly number[]): string {
  const most = Math.max(...values)
  return values.map((value) => (value <= 0 ? '·' : STEPS.charAt(Math.ceil((value / most) * STEPS.length) - 1))).join('')
}
