// Stores client keys as rows. They never contain the secret: only its MAC, for look-ups.
import { z } from 'zod'
import { replaceRows } from '../../core/db/changed-rows.ts'
import { sql } from '../../core/db/sql.ts'
import { jsonColumn } from '../../core/schema/json-column.ts'
import type { Db } from '../../core/types/ports/db.ts'

const nullableInt = z.number().int().nullable()

export const keyRow = z.object({
  id: z.number().int(),
  org_id: z.number().int(),
  label: z.string(),
  mac: z.string(),
  last4: z.string(),
  allowed_models: jsonColumn(z.array(z.string())),
  rate_limit_rpm: nullableInt,
  rate_limit_tpm: nullableInt,
  cost_center: z.string().nullable(),
  session_budget_nano: nullableInt,
  expires_at: nullableInt,
  guardrails_exempt: z.number().transform((flag) => flag === 1),
  shadow_opt_out: z.number().transform((flag) => flag === 1),
  created_at: z.number().int(),
  updated_at: z.number().int(),
  revoked_at: nullableInt,
  managed_by: z.enum(['config', 'api']),
  config_key: z.string().nullable(),
  declared: z.string().nullable(),
  archived_at: nullableInt,
  created_by: nullableInt,
})
export type KeyRow = z.output<typeof keyRow>

/** Writable columns of a key. */
export interface KeyFields {
  label: string
  allowed_models: readonly string[]
  rate_limit_rpm: number | null
  rate_limit_tpm: number | null
  cost_center: string | null
  session_budget_nano: number | null
  expires_at: number | null
  guardrails_exempt: boolean
  shadow_opt_out: boolean
}

export interface NewKey extends KeyFields {
  mac: string
  last4: string
  config_key?: string
  declared?: string
  /** The person who made it; null or absent: a token, the command line or the file. */
  created_by?: number | null
}

const LIVING = sql`revoked_at IS NULL AND archived_at IS NULL`

/** Returns every active key of every organization by its id, for the process's memory. */
export async function loadKeys(db: Db): Promise<Map<number, KeyRow>> {
  const rows = await db.all(sql`SELECT * FROM keys WHERE ${LIVING} ORDER BY id`, keyRow)
  return new Map(rows.map((row) => [row.id, row]))
}

/** Reads only the keys with these ids again. */
export async function renewKeys(db: Db, ids: readonly number[], keys: Map<number, KeyRow>): Promise<Map<number, KeyRow>> {
  const rows = await db.all(sql`SELECT * FROM keys WHERE id IN ${sql.in(ids)} AND ${LIVING}`, keyRow)
  return replaceRows(keys, ids, new Map(rows.map((row) => [row.id, row])))
}

export function configKeys(db: Db): Promise<KeyRow[]> {
  return db.all(sql`SELECT * FROM keys WHERE managed_by = 'config' OR (${LIVING}) ORDER BY id`, keyRow)
}

export async function insertKey(db: Db, orgId: number | null, key: NewKey, now: number): Promise<KeyRow> {
  const row = await db.get(
    sql`INSERT INTO keys (org_id, label, mac, last4, allowed_models, rate_limit_rpm, rate_limit_tpm, cost_center,
          session_budget_nano, expires_at, guardrails_exempt, shadow_opt_out, created_at, updated_at, managed_by, config_key, declared, created_by)
        VALUES (${orgId ?? 0}, ${key.label}, ${key.mac}, ${key.last4}, ${JSON.stringify(key.allowed_models)}, ${key.rate_limit_rpm},
          ${key.rate_limit_tpm}, ${key.cost_center}, ${key.session_budget_nano}, ${key.expires_at}, ${key.guardrails_exempt ? 1 : 0},
          ${key.shadow_opt_out ? 1 : 0}, ${now}, ${now},
          ${key.config_key === undefined ? 'api' : 'config'}, ${key.config_key ?? null}, ${key.declared ?? null},
          ${key.created_by ?? null})
        RETURNING *`,
    keyRow,
  )
  if (row === undefined) throw new Error('The new key was not stored.')
  return row
}

export function updateKey(db: Db, orgId: number | null, id: number, fields: KeyFields, now: number): Promise<KeyRow | undefined> {
  return db.get(
    sql`UPDATE keys SET label = ${fields.label}, allowed_models = ${JSON.stringify(fields.allowed_models)},
          rate_limit_rpm = ${fields.rate_limit_rpm}, rate_limit_tpm = ${fields.rate_limit_tpm}, cost_center = ${fields.cost_center},
          session_budget_nano = ${fields.session_budget_nano}, expires_at = ${fields.expires_at},
          guardrails_exempt = ${fields.guardrails_exempt ? 1 : 0}, shadow_opt_out = ${fields.shadow_opt_out ? 1 : 0}, updated_at = ${now}
        WHERE id = ${id} AND org_id = ${orgId ?? 0} AND ${LIVING} RETURNING *`,
    keyRow,
  )
}

export function replaceSecret(
  db: Db,
  orgId: number | null,
  id: number,
  secret: { mac: string; last4: string },
  now: number,
): Promise<KeyRow | undefined> {
  return db.get(
    sql`UPDATE keys SET mac = ${secret.mac}, last4 = ${secret.last4}, updated_at = ${now}
        WHERE id = ${id} AND org_id = ${orgId ?? 0} AND ${LIVING} RETURNING *`,
    keyRow,
  )
}

/** Returns false when there was nothing to revoke. */
export async function revokeKey(db: Db, orgId: number | null, id: number, now: number): Promise<boolean> {
  const { changes } = await db.run(
    sql`UPDATE keys SET revoked_at = ${now}, updated_at = ${now} WHERE id = ${id} AND org_id = ${orgId ?? 0} AND ${LIVING}`,
  )
  return changes === 1
}

/** The file takes the row over, or declares it again. */
export async function declareKey(db: Db, id: number, key: NewKey, rotate: boolean, now: number): Promise<void> {
  const secret = rotate ? sql`mac = ${key.mac}, last4 = ${key.last4},` : sql.empty
  await db.run(
    sql`UPDATE keys SET ${secret} label = ${key.label}, allowed_models = ${JSON.stringify(key.allowed_models)},
          rate_limit_rpm = ${key.rate_limit_rpm}, rate_limit_tpm = ${key.rate_limit_tpm}, cost_center = ${key.cost_center},
          session_budget_nano = ${key.session_budget_nano}, expires_at = ${key.expires_at},
          guardrails_exempt = ${key.guardrails_exempt ? 1 : 0}, shadow_opt_out = ${key.shadow_opt_out ? 1 : 0}, updated_at = ${now},
          managed_by = 'config', config_key = ${key.config_key ?? null}, declared = ${key.declared ?? null},
          archived_at = NULL, revoked_at = NULL
        WHERE id = ${id}`,
  )
}

export async function archiveKey(db: Db, id: number, now: number): Promise<void> {
  await db.run(sql`UPDATE keys SET archived_at = ${now}, updated_at = ${now} WHERE id = ${id}`)
}
