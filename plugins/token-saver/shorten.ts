// Runs one tool output through the filters. Equal texts give equal results, and a shortened text stays unchanged, so that the history of
// the next turns keeps its cached prefix.
import type { Filter } from './filters/filter.ts'
import { outputOf } from './filters/lines.ts'
import { FILTERS } from './filters/list.ts'

/** Bytes; shorter and longer texts are not changed. */
export const MIN_BYTES = 500
export const MAX_BYTES = 10 * 1024 * 1024
/** Position of the first filter that needs the whole output's summary. */
const BEFORE_EARLY = 3
const MARK = '[shortened: '

export interface Shortened {
  readonly text: string
  readonly filter: string
}

/** Returns null when the text stays unchanged. */
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
    // A failing filter costs tokens, not the request.
    return null
  }
}

export function byteLength(text: string): number {
  return new TextEncoder().encode(text).length
}

/** Counts the bytes only when the number of characters is not decisive. */
function fits(text: string): boolean {
  if (text.length > MAX_BYTES || text.length * 3 < MIN_BYTES) return false
  if (text.length >= MIN_BYTES && text.length * 3 <= MAX_BYTES) return true
  const bytes = byteLength(text)
  return bytes >= MIN_BYTES && bytes <= MAX_BYTES
}
