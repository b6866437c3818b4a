// Builds the statements for events and their deliveries. They run in the caller's transaction and are safe to apply twice. Only the
// database debounces, so that replicas and a replayed spool agree.
import { v7 } from 'uuid'
import { sql } from '../../core/db/sql.ts'
import type { Sql, Statement } from '../../core/types/ports/db.ts'

export interface Debounce {
  readonly key: string
  /** Time of the event, epoch ms; a debounce key that has ended by then is free. */
  readonly from: number
  readonly until: number
}

/** Lease of a delivery that its own process sends at once. */
export interface Lease {
  readonly owner: string
  readonly until: number
}

// The envelope of an event. Its bytes are built once, so that retries and redeliveries send the same.
export interface Envelope {
  /** `evt_<uuidv7>`. */
  readonly id: string
  readonly type: string
  readonly created_at: string
  readonly api_version: 'v1'
  readonly org_id: number | null
  readonly data: Readonly<Record<string, unknown>>
}

export function envelopeOf(
  { type, orgId, data }: { type: string; orgId: number | null; data: Readonly<Record<string, unknown>> },
  at: number,
): Envelope {
  return { id: `evt_${v7({ msecs: at })}`, type, created_at: new Date(at).toISOString(), api_version: 'v1', org_id: orgId, data }
}

export const deliveryId = (at: number): string => `dlv_${v7({ msecs: at })}`

/** @param at epoch ms of queueing. */
export function queueStatements(
  envelope: Envelope,
  endpointIds: readonly string[],
  at: number,
  { debounce, lease }: { debounce?: Debounce; lease?: Lease } = {},
): Statement[] {
  const statements: Statement[] = []
  if (debounce !== undefined) statements.push({ sql: taken(envelope, debounce), lock: `webhooks:${debounce.key}` })
  statements.push({ sql: event(envelope, at, debounce) })
  for (const endpointId of endpointIds) statements.push({ sql: delivery(envelope, endpointId, at, lease) })
  return statements
}

/** Gives the key to this event, unless an earlier event still holds it. */
function taken({ id }: Envelope, { key, from, until }: Debounce): Sql {
  return sql`INSERT INTO webhooks_dedup (key, until, event_id) VALUES (${key}, ${until}, ${id})
    ON CONFLICT (key) DO UPDATE SET until = excluded.until, event_id = excluded.event_id WHERE webhooks_dedup.until <= ${from}`
}

function event(envelope: Envelope, at: number, debounce: Debounce | undefined): Sql {
  const { id, type, org_id } = envelope
  const row = sql.join([id, org_id ?? 0, type, JSON.stringify(envelope), at])
  const source =
    debounce === undefined
      ? sql`VALUES (${row})`
      : sql`SELECT ${row} FROM webhooks_dedup WHERE key = ${debounce.key} AND event_id = ${id}`
  return sql`INSERT INTO webhooks_events (id, org_id, type, body, created_at) ${source} ON CONFLICT DO NOTHING`
}

/** Inserts nothing when the event was not queued. */
function delivery({ id, type, org_id }: Envelope, endpointId: string, at: number, lease: Lease | undefined): Sql {
  const row = sql.join([deliveryId(at), org_id ?? 0, endpointId, id, type, at, at, lease?.owner ?? null, lease?.until ?? 0])
  return sql`INSERT INTO webhooks_deliveries
      (id, org_id, endpoint_id, event_id, event_type, created_at, next_attempt_at, lease_owner, lease_until)
    SELECT ${row} FROM webhooks_events WHERE id = ${id} ON CONFLICT DO NOTHING`
}
