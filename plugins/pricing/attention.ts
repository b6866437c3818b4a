// The fact that prices changed further than expected and wait for a review. Rate cards belong to the whole gateway.
import { sql } from '../../core/db/sql.ts'
import type { AttentionFacts } from '../../core/types/attention.ts'
import type { Db } from '../../core/types/ports/db.ts'

export function driftFacts(db: Db): AttentionFacts {
  return async ({ system }) => {
    if (!system) return []
    const open = await db.get<{ n: number; since: number | null }>(
      sql`SELECT COUNT(*) AS n, MIN(detected_at) AS since FROM pricing_drift WHERE reviewed_at IS NULL`,
    )
    const count = open?.n ?? 0
    if (count === 0) return []
    return [
      {
        kind: 'price_drift',
        severity: 'warning',
        subject: { kind: 'prices', id: 'drift', label: 'prices' },
        title: `${count} ${count === 1 ? 'price' : 'prices'} moved further than expected and ${count === 1 ? 'waits' : 'wait'} for a review.`,
        since: open?.since ?? null,
        effect: 'The new prices apply; costs and budgets may change by as much.',
        levers: [],
        link: '/spend?tab=prices',
      },
    ]
  }
}
