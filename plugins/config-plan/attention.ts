// The fact that the database differs from the configuration file.
import type { ConfigPlan } from '../../core/config/reconcile.ts'
import type { AttentionFacts } from '../../core/types/attention.ts'
import type { Clock } from '../../core/types/ports/ports.ts'

/** A comparison reads the declared rows of every section. */
const COMPARED_MS = 60_000

export function driftFacts(plan: Pick<ConfigPlan, 'differences'>, clock: Clock): AttentionFacts {
  let compared: { at: number; count: number } | null = null
  return async ({ system }) => {
    if (!system) return []
    if (compared === null || clock.monotonic() - compared.at >= COMPARED_MS)
      compared = { at: clock.monotonic(), count: (await plan.differences()).length }
    const { count } = compared
    if (count === 0) return []
    return [
      {
        kind: 'plan_drift',
        severity: 'warning',
        subject: { kind: 'configuration', id: 'plan', label: 'configuration' },
        title: `The database differs from the configuration file in ${count} ${count === 1 ? 'entry' : 'entries'}.`,
        since: null,
        effect: 'The next start or reload makes the database say what the file says.',
        levers: [],
        link: '/system?tab=config',
      },
    ]
  }
}
