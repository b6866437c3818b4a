// Samples calls with a wrong or missing credential: they cost their sender nothing, so the log keeps some of them, and the metric counts
// all.

import type { PluginGateway } from '../../core/types/plugin/plugin.ts'
import type { Outcome } from '../../core/types/request/context.ts'

const MINUTE_MS = 60_000

/** Returns whether a request is logged: every admitted one, and up to `perMinute` refused credentials. */
export function credentialRefusals({ clock, metrics }: PluginGateway, perMinute: number): (outcome: Outcome) => boolean {
  const refused = metrics.tally(
    'request_log_refused_credentials_total',
    'Calls refused for their credential, by whether the log has a row of them.',
    ['logged'],
  )
  const series = { true: refused.series('true'), false: refused.series('false') }
  let windowEnds = Number.NEGATIVE_INFINITY
  let kept = 0
  return ({ status, steps }) => {
    if (status !== 401 || steps.length > 0) return true
    const now = clock.monotonic()
    if (now >= windowEnds) {
      windowEnds = now + MINUTE_MS
      kept = 0
    }
    const logged = kept < perMinute
    if (logged) kept++
    series[`${logged}`].add(1)
    return logged
  }
}
