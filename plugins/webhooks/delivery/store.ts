// Stores deliveries as rows. A delivery is claimed with a lease; when its process dies, it is claimed again after the lease.
import { z } from 'zod'
import { sql } from '../../../core/db/sql.ts'
import type { Db, Sql, Statement } from '../../../core/types/ports/db.ts'
import { TEST_EVENT } from '../events/catalog.ts'
import { DELIVERY_STATUSES, type DeliveryStatus, FORMATS } from '../service.ts'

const int = z.number().int()

const deliveryRow = z.object({
  seq: int,
  id: z.string(),
  org_id: int,
  endpoint_id: z.string(),
  event_id: z.string(),
  event_type: z.string(),
  status: z.enum(DELIVERY_STATUSES),
  attempts: int,
  first_attempt_at: int.nullable(),
  next_attempt_at: int.nullable(),
  lease_until: int,
  last_status: int.nullable(),
  last_error: z.string().nullable(),
  created_at: int,
  finished_at: int.nullable(),
})
export type DeliveryRow = z.output<typeof deliveryRow>

const flag = int.transform((value) => value !== 0)

/** A claimed delivery with all data for sending; for a deleted endpoint that data is null. */
const jobRow = deliveryRow.extend({
  body: z.string(),
  endpoint_row: int.nullable(),
  url: z.string().nullable(),
  format: z.enum(FORMATS).nullable(),
  enabled: flag.nullable(),
  secret: z.string().nullable(),
  previous_secret: z.string().nullable(),
  previous_secret_until: int.nullable(),
  failing_since: int.nullable(),
})
export type Job = z.output<typeof jobRow>

/** Maximum concurrent deliveries to one endpoint, across replicas. */
const IN_FLIGHT = 4

/** Returns endpoints with due deliveries, also deleted ones: their deliveries are failed when they are claimed. */
export async function dueEndpoints(db: Db, now: number): Promise<string[]> {
  const rows = await db.all<{ public_id: string }>(
    sql`SELECT e.public_id FROM webhooks_endpoints e WHERE EXISTS (SELECT 1 FROM webhooks_deliveries d
        WHERE d.endpoint_id = e.public_id AND d.status = 'pending' AND d.next_attempt_at <= ${now} AND d.lease_until <= ${now})`,
  )
  return rows.map(({ public_id }) => public_id)
}

export async function dueDeliveries(db: Db, endpointId: string, now: number): Promise<string[]> {
  const rows = await db.all<{ id: string }>(
    sql`SELECT id FROM webhooks_deliveries
        WHERE endpoint_id = ${endpointId} AND status = 'pending' AND next_attempt_at <= ${now} AND lease_until <= ${now}
        ORDER BY next_attempt_at, seq LIMIT ${IN_FLIGHT}`,
  )
  return rows.map(({ id }) => id)
}

/** Returns the next time at which a delivery is due; null: none is waiting. */
export async function nextDue(db: Db, now: number): Promise<number | null> {
  const row = await db.get<{ at: number | null }>(
    sql`SELECT MIN(next_attempt_at) AS at FROM webhooks_deliveries WHERE status = 'pending' AND next_attempt_at > ${now}`,
  )
  return row?.at ?? null
}

/** Returns false when another process has the delivery, or the endpoint is at its in-flight limit. */
export async function claim(
  db: Db,
  delivery: { id: string; endpointId: string },
  lease: { owner: string; until: number },
  now: number,
): Promise<boolean> {
  const statement: Statement = {
    sql: sql`UPDATE webhooks_deliveries SET lease_owner = ${lease.owner}, lease_until = ${lease.until}
      WHERE id = ${delivery.id} AND status = 'pending' AND lease_until <= ${now}
        AND (SELECT COUNT(*) FROM webhooks_deliveries AS flying
             WHERE flying.endpoint_id = ${delivery.endpointId} AND flying.status = 'pending'
               AND flying.lease_owner IS NOT NULL AND flying.lease_until > ${now})
            < ${IN_FLIGHT}`,
    expect: 1,
    lock: `webhooks:${delivery.endpointId}`,
  }
  return (await db.atomic([statement])).ok
}

export function jobOf(db: Db, id: string): Promise<Job | undefined> {
  return db.get(
    sql`SELECT d.*, v.body, e.id AS endpoint_row, e.url, e.format, e.enabled, e.secret, e.previous_secret,
          e.previous_secret_until, e.failing_since
        FROM webhooks_deliveries d
        JOIN webhooks_events v ON v.id = d.event_id
        LEFT JOIN webhooks_endpoints e ON e.public_id = d.endpoint_id AND e.archived_at IS NULL
        WHERE d.id = ${id}`,
    jobRow,
  )
}

export interface Ending {
  readonly status: DeliveryStatus
  readonly firstAttemptAt: number | null
  readonly nextAttemptAt: number | null
  readonly attempts: number
  readonly lastStatus: number | null
  readonly lastError: string | null
}

/** Stores the result of an attempt; it has no effect when another process took over the lease. */
export function endedStatement(id: string, owner: string, ending: Ending, now: number): Sql {
  return sql`UPDATE webhooks_deliveries SET status = ${ending.status}, attempts = ${ending.attempts},
      first_attempt_at = ${ending.firstAttemptAt}, next_attempt_at = ${ending.nextAttemptAt},
      last_status = ${ending.lastStatus}, last_error = ${ending.lastError},
      finished_at = ${ending.status === 'pending' ? null : now}, lease_until = 0, lease_owner = NULL
    WHERE id = ${id} AND lease_owner = ${owner} AND status = 'pending'`
}

/** The attempt did not finish: another process may claim it. */
export async function release(db: Db, id: string, owner: string): Promise<void> {
  await db.run(
    sql`UPDATE webhooks_deliveries SET lease_until = 0, lease_owner = NULL WHERE id = ${id} AND lease_owner = ${owner}`,
  )
}

export interface DeliveryFilter {
  readonly endpointId?: string | undefined
  readonly status?: DeliveryStatus | undefined
  /** `seq` of the last row of the previous page. */
  readonly before?: number | undefined
}

/** Returns rows, newest first. */
export function listDeliveries(db: Db, orgId: number | null, filter: DeliveryFilter, limit: number): Promise<DeliveryRow[]> {
  const where = [sql`org_id = ${orgId ?? 0}`]
  if (filter.endpointId !== undefined) where.push(sql`endpoint_id = ${filter.endpointId}`)
  if (filter.status !== undefined) where.push(sql`status = ${filter.status}`)
  if (filter.before !== undefined) where.push(sql`seq < ${filter.before}`)
  return db.all(sql`SELECT * FROM webhooks_deliveries WHERE ${sql.and(where)} ORDER BY seq DESC LIMIT ${limit}`, deliveryRow)
}

export function findDelivery(db: Db, orgId: number | null, id: string): Promise<DeliveryRow | undefined> {
  return db.get(sql`SELECT * FROM webhooks_deliveries WHERE id = ${id} AND org_id = ${orgId ?? 0}`, deliveryRow)
}

/** Returns the delivery of an event to a single endpoint. */
export async function findDeliveryOf(db: Db, eventId: string): Promise<DeliveryRow> {
  const row = await db.get(sql`SELECT * FROM webhooks_deliveries WHERE event_id = ${eventId}`, deliveryRow)
  if (row === undefined) throw new Error('The delivery was not stored.')
  return row
}

/** Returns the bytes of an event; undefined: it is no longer stored. */
export async function eventBody(db: Db, eventId: string): Promise<string | undefined> {
  return (await db.get<{ body: string }>(sql`SELECT body FROM webhooks_events WHERE id = ${eventId}`))?.body
}

/** Restarts the schedule; undefined: the delivery is neither failed nor dead. */
export function requeue(db: Db, orgId: number | null, id: string, now: number): Promise<DeliveryRow | undefined> {
  return db.get(
    sql`UPDATE webhooks_deliveries SET status = 'pending', attempts = 0, first_attempt_at = NULL, next_attempt_at = ${now},
          finished_at = NULL, lease_until = 0, lease_owner = NULL
        WHERE id = ${id} AND org_id = ${orgId ?? 0} AND status IN ('failed', 'dead') RETURNING *`,
    deliveryRow,
  )
}

/** Fails the pending deliveries of a disabled endpoint. Deliveries in flight end by themselves, and test deliveries still run. */
export async function failPending(db: Db, endpointId: string, why: string, now: number): Promise<void> {
  await db.run(
    sql`UPDATE webhooks_deliveries SET status = 'failed', last_error = ${why}, next_attempt_at = NULL, finished_at = ${now},
          lease_until = 0, lease_owner = NULL
        WHERE endpoint_id = ${endpointId} AND status = 'pending' AND lease_until <= ${now} AND event_type <> ${TEST_EVENT}`,
  )
}

export async function pendingCount(db: Db): Promise<number> {
  const row = await db.get<{ n: number }>(sql`SELECT COUNT(*) AS n FROM webhooks_deliveries WHERE status = 'pending'`)
  return row?.n ?? 0
}
