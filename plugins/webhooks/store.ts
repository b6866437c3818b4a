// Stores webhook endpoints as rows; secrets are sealed.
import { z } from 'zod'
import { type Declaration, ownership } from '../../core/config/owned-rows.ts'
import { sql } from '../../core/db/sql.ts'
import { randomId } from '../../core/ids/ids.ts'
import { jsonColumn } from '../../core/schema/json-column.ts'
import type { Db, Sql } from '../../core/types/ports/db.ts'
import { failPending } from './delivery/store.ts'
import { FORMATS, type WebhookEndpoint } from './service.ts'

const int = z.number().int()
const text = z.string().nullable()

export const endpointRow = z.object({
  id: int,
  org_id: int,
  public_id: z.string(),
  url: z.string(),
  event_types: jsonColumn(z.array(z.string())),
  format: z.enum(FORMATS),
  enabled: int.transform((value) => value !== 0),
  secret: text,
  previous_secret: text,
  previous_secret_until: int.nullable(),
  failing_since: int.nullable(),
  auto_disabled_at: int.nullable(),
  created_at: int,
  updated_at: int,
  managed_by: z.enum(['config', 'api']),
  config_key: text,
  declared: text,
  archived_at: int.nullable(),
})
export type EndpointRow = z.output<typeof endpointRow>

export type EndpointFields = Pick<WebhookEndpoint, 'url' | 'eventTypes' | 'format' | 'enabled'>

/** Returns endpoints of every organization. */
export function activeEndpoints(db: Db): Promise<EndpointRow[]> {
  return db.all(sql`SELECT * FROM webhooks_endpoints WHERE archived_at IS NULL ORDER BY id`, endpointRow)
}

export function findEndpoint(db: Db, orgId: number | null, publicId: string): Promise<EndpointRow | undefined> {
  return db.get(
    sql`SELECT * FROM webhooks_endpoints WHERE public_id = ${publicId} AND org_id = ${orgId ?? 0} AND archived_at IS NULL`,
    endpointRow,
  )
}

export function declaredEndpoints(db: Db): Promise<EndpointRow[]> {
  return db.all(
    sql`SELECT * FROM webhooks_endpoints WHERE org_id = 0 AND (managed_by = 'config' OR archived_at IS NULL) ORDER BY id`,
    endpointRow,
  )
}

/** Without a secret, which is sealed under the row's id. */
export async function insertEndpoint(
  db: Db,
  orgId: number | null,
  endpoint: EndpointFields,
  now: number,
  declaration?: Declaration,
): Promise<EndpointRow> {
  const row = await db.get(
    sql`INSERT INTO webhooks_endpoints (org_id, public_id, url, event_types, format, enabled, created_at, updated_at,
          managed_by, config_key, declared)
        VALUES (${orgId ?? 0}, ${randomId('ep_')}, ${endpoint.url}, ${JSON.stringify(endpoint.eventTypes)}, ${endpoint.format},
          ${endpoint.enabled}, ${now}, ${now},
          ${declaration ? 'config' : 'api'}, ${declaration?.config_key ?? null}, ${declaration?.declared ?? null})
        RETURNING *`,
    endpointRow,
  )
  if (row === undefined) throw new Error('The new webhook endpoint was not stored.')
  return row
}

/** With a declaration the file takes the row over or declares it again; an archived row becomes active. */
export async function updateEndpoint(
  db: Db,
  orgId: number | null,
  id: number,
  endpoint: EndpointFields,
  now: number,
  declaration?: Declaration,
): Promise<EndpointRow | undefined> {
  const row = await db.get(
    sql`UPDATE webhooks_endpoints SET ${ownership(declaration)} url = ${endpoint.url}, event_types = ${JSON.stringify(endpoint.eventTypes)},
          format = ${endpoint.format}, enabled = ${endpoint.enabled}, updated_at = ${now}
        WHERE id = ${id} AND org_id = ${orgId ?? 0} RETURNING *`,
    endpointRow,
  )
  if (row?.enabled === false) await failPending(db, row.public_id, 'The endpoint was disabled.', now)
  return row
}

/** Resets the endpoint's failure count. */
export async function forgetFailures(db: Db, id: number): Promise<void> {
  await db.run(sql`UPDATE webhooks_endpoints SET failing_since = NULL, auto_disabled_at = NULL WHERE id = ${id}`)
}

/** Disables it only when it has been failing since `since` or longer. */
export async function disableFailing(db: Db, id: number, since: number, now: number): Promise<boolean> {
  const row = await db.get<{ public_id: string }>(
    sql`UPDATE webhooks_endpoints SET enabled = 0, auto_disabled_at = ${now}, updated_at = ${now}
        WHERE id = ${id} AND enabled = 1 AND failing_since <= ${since} AND archived_at IS NULL RETURNING public_id`,
  )
  if (row === undefined) return false
  await failPending(db, row.public_id, 'The endpoint failed for days and was disabled.', now)
  return true
}

export function failedStatement(id: number, at: number): Sql {
  return sql`UPDATE webhooks_endpoints SET failing_since = ${at} WHERE id = ${id} AND failing_since IS NULL`
}

export function answeredStatement(id: number): Sql {
  return sql`UPDATE webhooks_endpoints SET failing_since = NULL WHERE id = ${id} AND failing_since IS NOT NULL`
}

/** Replaces the secret; the former one is invalid at once. */
export async function storeSecret(db: Db, id: number, sealed: string): Promise<void> {
  await db.run(
    sql`UPDATE webhooks_endpoints SET secret = ${sealed}, previous_secret = NULL, previous_secret_until = NULL WHERE id = ${id}`,
  )
}

/** Deliveries until `until` also carry a signature of the former secret. */
export async function rotateSecret(
  db: Db,
  id: number,
  sealed: { secret: string; previous: string },
  until: number,
  now: number,
): Promise<void> {
  await db.run(
    sql`UPDATE webhooks_endpoints SET secret = ${sealed.secret}, previous_secret = ${sealed.previous},
          previous_secret_until = ${until}, updated_at = ${now} WHERE id = ${id}`,
  )
}

export async function archiveEndpoint(db: Db, orgId: number | null, id: number, now: number): Promise<boolean> {
  const row = await db.get<{ public_id: string }>(
    sql`UPDATE webhooks_endpoints SET archived_at = ${now}, updated_at = ${now}
        WHERE id = ${id} AND org_id = ${orgId ?? 0} AND archived_at IS NULL RETURNING public_id`,
  )
  if (row !== undefined) await failPending(db, row.public_id, 'The endpoint was removed.', now)
  return row !== undefined
}
