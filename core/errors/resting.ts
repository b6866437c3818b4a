// The error for accounts that are in cooldown: the reason, and `Retry-After` in seconds until one is available again.
import type { SkipReason } from '../types/error.ts'

/** @param what for example "No account can take this request now". */
export function restingText(what: string, reasons: readonly SkipReason[], retryAfterMs: number | null): string {
  const why = reasons.every((reason) => reason === 'circuit_open') ? ': the upstream failed too often in a row' : ''
  const when = retryAfterMs === null ? '' : ` The next attempt is made in ${Math.max(1, Math.ceil(retryAfterMs / 1000))} s.`
  return `${what} (${[...new Set(reasons)].join(', ')})${why}.${when}`
}
