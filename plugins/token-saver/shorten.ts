// One tool output through the filters. The same text always becomes the same text, and a shortened one stays as it is: the
// history that is sent again with every turn keeps its cached prefix.
import type { Filter } from './filters/filter.ts'
import { outputOf } from './filters/lines.ts'
import { FILTERS } from './filters/list.ts'

/** Bytes; outside nothing is touched. */
export const MIN_BYTES = 500
export const MAX_BYTES = 10 * 1024 * 1024
/** Position of the first filter that needs the whole output's summary. */
const BEFORE_EARLY = 3
const MARK = '[shortened: '

export interface Shortened {
  readonly text: string
  readonly filter: string
}

/** null: it stays as it is. */
export function shorten(text: string, disabled: ReadonlySet<string>, filters: readonly Filter[] = FILTERS): Shortened | null {
  if (text.startsWith(MARK) || !fits(text)) return null
  try {
    const output = outputOf(text)
    const enabled = filters.filter(({ id }) => !disabled.has(id))
    const filter =
      enabled.find((one) => filters.indexOf(one) < BEFORE_EARLY && one.detect(output)) ??
      enabled.find((one) => one.early?.(output) === true) ??
      enabled.find((one) => one.detect(output))
    const lines = filter?.shorten(output.lines)
    if (filter === undefined || !lines || lines.length === 0) return null
    const short = `${MARK}${filter.id}, ${output.lines.length} lines]\n${lines.join('\n')}`
    return short.length < text.length && byteLength(short) < byteLength(text) ? { text: short, filter: filter.id } : null
  } catch {
    // A filter that fails costs tokens, not the request.
    return null
  }
}

export function byteLength(text: string): number {
  return new TextEncoder().encode(text).length
}

/** Counts the bytes only where characters do not say it. */
function fits(text: string): boolean {
  if (text.length > MAX_BYTES || text.length * 3 < MIN_BYTES) return false
  if (text.length >= MIN_BYTES && text.length * 3 <= MAX_BYTES) return true
  const bytes = byteLength(text)
  return bytes >= MIN_BYTES && bytes <= MAX_BYTES
}
