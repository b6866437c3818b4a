// Stores provider connections as rows. Key, proxy URL and headers are sealed. Rows of the configuration file hold none of them.
import { z } from 'zod'
import { type Declaration, ownership } from '../../core/config/owned-rows.ts'
import { sql } from '../../core/db/sql.ts'
import { connectionCaps } from '../../core/models/model-caps.ts'
import { jsonColumn } from '../../core/schema/json-column.ts'
import type { Db } from '../../core/types/ports/db.ts'

const text = z.string().nullable()

export const connectionRow = z.object({
  id: z.number().int(),
  org_id: z.number().int(),
  provider: z.string(),
  label: z.string(),
  auth_type: z.string(),
  wire_format: z.enum(['chat', 'messages', 'responses', 'generate_content']).nullable(),
  base_url: text,
  secret: text,
  secret_hint: text,
  priority: z.number().int(),
  enabled: z.number().transform((value) => value !== 0),
  allowed_models: jsonColumn(z.array(z.string())),
  default_model: text,
  max_inflight: z.number().int().nullable(),
  proxy_url: text,
  headers: text,
  metadata: jsonColumn(z.record(z.string(), z.unknown())),
  caps: jsonColumn(connectionCaps).nullable(),
  created_at: z.number().int(),
  updated_at: z.number().int(),
  managed_by: z.enum(['config', 'api']),
  config_key: text,
  declared: text,
  archived_at: z.number().int().nullable(),
})
export type ConnectionRow = z.output<typeof connectionRow>

/** Writable columns of a connection, secrets sealed. */
export type ConnectionFields = Pick<
  ConnectionRow,
  | 'provider'
  | 'label'
  | 'wire_format'
  | 'base_url'
  | 'secret'
  | 'secret_hint'
  | 'priority'
  | 'enabled'
  | 'allowed_models'
  | 'default_model'
  | 'max_inflight'
  | 'proxy_url'
  | 'headers'
  | 'metadata'
  | 'caps'
>

export function activeConnections(db: Db): Promise<ConnectionRow[]> {
  return db.all(sql`SELECT * FROM connections WHERE archived_at IS NULL ORDER BY priority, id`, connectionRow)
}

export function declaredConnections(db: Db): Promise<ConnectionRow[]> {
  return db.all(sql`SELECT * FROM connections WHERE managed_by = 'config' OR archived_at IS NULL ORDER BY id`, connectionRow)
}

/** Returns the priority after all others. */
export async function nextPriority(db: Db, orgId: number | null): Promise<number> {
  const row = await db.get<{ last: number | null }>(
    sql`SELECT MAX(priority) AS last FROM connections WHERE org_id = ${orgId ?? 0} AND archived_at IS NULL`,
  )
  return (row?.last ?? -1) + 1
}

export async function insertConnection(
  db: Db,
  orgId: number | null,
  fields: ConnectionFields,
  now: number,
  declaration?: Declaration,
): Promise<ConnectionRow> {
  const row = await db.get(
    sql`INSERT INTO connections (org_id, provider, label, wire_format, base_url, secret, secret_hint, priority, enabled,
          allowed_models, default_model, max_inflight, proxy_url, headers, metadata, caps, created_at, updated_at,
          managed_by, config_key, declared)
        VALUES (${orgId ?? 0}, ${fields.provider}, ${fields.label}, ${fields.wire_format}, ${fields.base_url}, ${fields.secret},
          ${fields.secret_hint}, ${fields.priority}, ${fields.enabled}, ${JSON.stringify(fields.allowed_models)},
          ${fields.default_model}, ${fields.max_inflight}, ${fields.proxy_url}, ${fields.headers}, ${JSON.stringify(fields.metadata)},
          ${capsText(fields)}, ${now}, ${now}, ${declaration ? 'config' : 'api'}, ${declaration?.config_key ?? null}, ${declaration?.declared ?? null})
        RETURNING *`,
    connectionRow,
  )
  if (row === undefined) throw new Error('The new connection was not stored.')
  return row
}

/** With a declaration the file takes the row over or declares it again; an archived row becomes active. */
export function updateConnection(
  db: Db,
  orgId: number | null,
  id: number,
  fields: ConnectionFields,
  now: number,
  declaration?: Declaration,
): Promise<ConnectionRow | undefined> {
  return db.get(
    sql`UPDATE connections SET ${ownership(declaration)} provider = ${fields.provider}, label = ${fields.label}, wire_format = ${fields.wire_format},
          base_url = ${fields.base_url}, secret = ${fields.secret}, secret_hint = ${fields.secret_hint}, priority = ${fields.priority},
          enabled = ${fields.enabled}, allowed_models = ${JSON.stringify(fields.allowed_models)}, default_model = ${fields.default_model},
          max_inflight = ${fields.max_inflight}, proxy_url = ${fields.proxy_url}, headers = ${fields.headers},
          metadata = ${JSON.stringify(fields.metadata)}, caps = ${capsText(fields)}, updated_at = ${now}
        WHERE id = ${id} AND org_id = ${orgId ?? 0} RETURNING *`,
    connectionRow,
  )
}

function capsText({ caps }: ConnectionFields): string | null {
  return caps === null ? null : JSON.stringify(caps)
}

/** Its credential is kept by the plugin that signed in. */
export async function markSignedIn(db: Db, id: number): Promise<void> {
  await db.run(sql`UPDATE connections SET auth_type = 'oauth' WHERE id = ${id}`)
}

export async function archiveConnection(db: Db, orgId: number | null, id: number, now: number): Promise<boolean> {
  const { changes } = await db.run(
    sql`UPDATE connections SET archived_at = ${now}, updated_at = ${now}, secret = NULL, proxy_url = NULL, headers = NULL
        WHERE id = ${id} AND org_id = ${orgId ?? 0} AND archived_at IS NULL`,
  )
  return changes === 1
}
