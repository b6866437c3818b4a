// Queues undelivered deliveries of one endpoint again: all that were made since a time, up to a limit.
import { sql } from '../../../core/db/sql.ts'
import type { Db, Sql } from '../../../core/types/ports/db.ts'
import { TEST_EVENT } from '../events/catalog.ts'

export interface Undelivered {
  readonly endpointId: string
  /** Epoch ms. */
  readonly since: number
  readonly statuses: readonly ('failed' | 'dead')[]
}

/** Restarts the schedule of the oldest ones. Returns how many. */
export async function requeueAll(db: Db, orgId: number | null, which: Undelivered, limit: number, now: number): Promise<number> {
  const { changes } = await db.run(
    sql`UPDATE webhooks_deliveries SET status = 'pending', attempts = 0, first_attempt_at = NULL, next_attempt_at = ${now},
          finished_at = NULL, lease_until = 0, lease_owner = NULL
        WHERE seq IN (SELECT seq FROM webhooks_deliveries WHERE ${matching(orgId, which)} ORDER BY seq LIMIT ${limit})
          AND status IN ('failed', 'dead')`,
  )
  return changes
}

export async function undelivered(db: Db, orgId: number | null, which: Undelivered): Promise<number> {
  const row = await db.get<{ n: number }>(sql`SELECT COUNT(*) AS n FROM webhooks_deliveries WHERE ${matching(orgId, which)}`)
  return row?.n ?? 0
}

/** Without test events, which are sent once. */
function matching(orgId: number | null, { endpointId, since, statuses }: Undelivered): Sql {
  return sql.and([
    sql`endpoint_id = ${endpointId}`,
    sql`org_id = ${orgId ?? 0}`,
    sql`status IN ('failed', 'dead')`,
    sql`status IN ${sql.in(statuses)}`,
    sql`created_at >= ${since}`,
    sql`event_type <> ${TEST_EVENT}`,
  ])
}
