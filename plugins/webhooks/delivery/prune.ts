// Deletes old deliveries: delivered ones after 7 days, failed ones after 30.
import { sql } from '../../../core/db/sql.ts'
import type { Db, Sql } from '../../../core/types/ports/db.ts'

const DAY_MS = 24 * 3_600_000
const DELIVERED_MS = 7 * DAY_MS
const DEAD_MS = 30 * DAY_MS
/** Rows per transaction; writers wait for it. */
const AT_ONCE = 1000

export async function prune(db: Db, now: number, signal: AbortSignal): Promise<void> {
  // Deliveries in flight when the last endpoint was deleted are not claimed again.
  await db.run(
    sql`UPDATE webhooks_deliveries SET status = 'failed', last_error = 'The endpoint was removed.', finished_at = ${now}, next_attempt_at = NULL
        WHERE status = 'pending' AND lease_until <= ${now} AND NOT EXISTS
          (SELECT 1 FROM webhooks_endpoints e WHERE e.public_id = webhooks_deliveries.endpoint_id AND e.archived_at IS NULL)`,
  )
  const steps: Sql[] = [
    sql`DELETE FROM webhooks_deliveries WHERE seq IN (SELECT seq FROM webhooks_deliveries
          WHERE finished_at < ${now - DELIVERED_MS} AND (status = 'delivered' OR finished_at < ${now - DEAD_MS}) LIMIT ${AT_ONCE})`,
    sql`DELETE FROM webhooks_attempts WHERE id IN (SELECT a.id FROM webhooks_attempts a
          WHERE NOT EXISTS (SELECT 1 FROM webhooks_deliveries d WHERE d.id = a.delivery_id) LIMIT ${AT_ONCE})`,
    sql`DELETE FROM webhooks_events WHERE id IN (SELECT v.id FROM webhooks_events v WHERE v.created_at < ${now - DELIVERED_MS}
          AND NOT EXISTS (SELECT 1 FROM webhooks_deliveries d WHERE d.event_id = v.id) LIMIT ${AT_ONCE})`,
    sql`DELETE FROM webhooks_dedup WHERE key IN (SELECT key FROM webhooks_dedup WHERE until < ${now - DAY_MS} LIMIT ${AT_ONCE})`,
  ]
  for (const step of steps) {
    for (let gone = AT_ONCE; gone === AT_ONCE && !signal.aborted; ) gone = (await db.run(step)).changes
  }
}
