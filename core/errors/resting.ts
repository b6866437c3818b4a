// What a caller is told when accounts are not asked: why, and when one of them is again, in the seconds of `Retry-After`.
import type { SkipReason } from '../types/error.ts'

/** @param what "No account can take this request now". */
export function restingText(what: string, reasons: readonly SkipReason[], retryAfterMs: number | null): string {
  const why = reasons.every((reason) => reason === 'circuit_open') ? ': the upstream failed too often in a row' : ''
  const when = retryAfterMs === null ? '' : ` The next attempt is made in ${Math.max(1, Math.ceil(retryAfterMs / 1000))} s.`
  return `${what} (${[...new Set(reasons)].join(', ')})${why}.${when}`
}
