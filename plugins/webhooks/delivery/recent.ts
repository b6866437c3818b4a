// Counts the deliveries of the last days by endpoint and status.
import { z } from 'zod'
import { sql } from '../../../core/db/sql.ts'
import type { Db } from '../../../core/types/ports/db.ts'
import { DELIVERY_STATUSES, type DeliveryStatus } from '../service.ts'

export type RecentDeliveries = Readonly<Record<DeliveryStatus, number>>

/** Delivered ones are kept for this time. */
const RECENT_MS = 7 * 24 * 3_600_000

const countRow = z.object({ endpoint_id: z.string(), status: z.enum(DELIVERY_STATUSES), deliveries: z.number().int() })

/** Returns the counts by endpoint; an endpoint without deliveries is missing. */
export async function recentDeliveries(
  db: Db,
  orgId: number | null,
  now: number,
): Promise<ReadonlyMap<string, RecentDeliveries>> {
  const rows = await db.all(
    sql`SELECT endpoint_id, status, COUNT(*) AS deliveries FROM webhooks_deliveries
        WHERE org_id = ${orgId ?? 0} AND created_at >= ${now - RECENT_MS} GROUP BY endpoint_id, status`,
    countRow,
  )
  const counts = new Map<string, RecentDeliveries>()
  for (const { endpoint_id, status, deliveries } of rows) {
    const before = counts.get(endpoint_id) ?? { pending: 0, delivered: 0, failed: 0, dead: 0 }
    counts.set(endpoint_id, { ...before, [status]: deliveries })
  }
  return counts
}
