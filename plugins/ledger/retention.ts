// Deletes old usage rows, a thousand at a time, so that no writer waits long.
import { sql } from '../../core/db/sql.ts'
import type { Db } from '../../core/types/ports/db.ts'
import type { Clock } from '../../core/types/ports/ports.ts'

export const RETENTION_MS = 3_600_000
const BATCH = 1000
const DAY_MS = 86_400_000

/** @param days 0 and below: rows are kept. */
export function retention(db: Db, clock: Clock, days: number): (signal: AbortSignal) => Promise<void> {
  return async (signal) => {
    if (days <= 0) return
    const before = clock.now() - days * DAY_MS
    for (const org of await organizations(db)) {
      let changes = BATCH
      while (changes === BATCH && !signal.aborted) {
        ;({ changes } = await db.run(
          sql`DELETE FROM ledger_usage WHERE request_id IN
                (SELECT request_id FROM ledger_usage WHERE org_id = ${org} AND at < ${before} ORDER BY at LIMIT ${BATCH})
              AND at < ${before}`,
        ))
      }
    }
  }
}

/** Reads only some entries of the index. */
async function organizations(db: Db): Promise<number[]> {
  const rows = await db.all<{ org_id: number | null }>(
    sql`WITH RECURSIVE orgs (org_id) AS (
          SELECT MIN(org_id) FROM ledger_usage
          UNION ALL
          SELECT (SELECT MIN(u.org_id) FROM ledger_usage u WHERE u.org_id > orgs.org_id) FROM orgs WHERE orgs.org_id IS NOT NULL
        ) SELECT org_id FROM orgs`,
  )
  return rows.flatMap(({ org_id }) => (org_id === null ? [] : [org_id]))
}
