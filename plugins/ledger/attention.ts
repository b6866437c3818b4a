// The fact that requests were answered whose price is unknown: their cost is in no budget and in no report.
import { sql } from '../../core/db/sql.ts'
import type { AttentionFacts } from '../../core/types/attention.ts'
import type { Db } from '../../core/types/ports/db.ts'
import type { Clock } from '../../core/types/ports/ports.ts'

const DAY_MS = 86_400_000
/** A look reads at most this many of the newest usage rows. */
const ROWS = 2000
/** Models beyond this number are not listed. */
const MODELS = 20

interface Unpriced {
  provider: string
  model: string | null
  n: number
  since: number
}

/** @param isLocal true for a provider that answers without an upstream. */
export function unpricedFacts(db: Db, clock: Clock, isLocal: (provider: string) => boolean): AttentionFacts {
  return async ({ orgId }) => {
    const rows = await db.all<Unpriced>(
      sql`SELECT provider, model, COUNT(*) AS n, MIN(at) AS since FROM (
            SELECT provider, model, at, cost_nano, status FROM ledger_usage
            WHERE org_id = ${orgId ?? 0} AND at >= ${clock.now() - DAY_MS} ORDER BY at DESC LIMIT ${ROWS}
          ) AS newest
          WHERE cost_nano IS NULL AND provider IS NOT NULL AND status = 200
          GROUP BY provider, model ORDER BY n DESC LIMIT ${MODELS}`,
    )
    return rows
      .filter(({ provider }) => !isLocal(provider))
      .map(({ provider, model, n, since }) => {
        const name = `${provider}/${model ?? ''}`
        return {
          kind: 'unpriced',
          severity: 'warning' as const,
          subject: { kind: 'model', id: name, label: name },
          title: `${n} ${n === 1 ? 'request' : 'requests'} to ${name} had no known price.`,
          since,
          effect: 'Their cost is in no budget and no report: set a price for the model.',
          levers: [],
          link: `/spend?tab=prices&model=${encodeURIComponent(name)}`,
        }
      })
  }
}
