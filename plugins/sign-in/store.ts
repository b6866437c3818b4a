// Stores management tokens and ended sessions as rows. They never contain the token: only its MAC, for look-ups.
import { z } from 'zod'
import { sql } from '../../core/db/sql.ts'
import type { Db } from '../../core/types/ports/db.ts'

export const tokenRow = z.object({
  id: z.number().int(),
  org_id: z.number().int(),
  label: z.string(),
  mac: z.string(),
  last4: z.string(),
  scope: z.enum(['manage', 'read']),
  role: z.enum(['member', 'manage', 'owner', 'system']),
  created_by: z.string(),
  created_at: z.number().int(),
  expires_at: z.number().int().nullable(),
  last_used_at: z.number().int().nullable(),
  user_id: z.number().int().nullable(),
})
export type TokenRow = z.output<typeof tokenRow>
export type NewToken = Omit<TokenRow, 'id' | 'org_id' | 'last_used_at'>

/** Returns every token that was not revoked, of every organization, for the process's memory. */
export function activeTokens(db: Db): Promise<TokenRow[]> {
  return db.all(sql`SELECT * FROM sign_in_tokens WHERE revoked_at IS NULL ORDER BY id`, tokenRow)
}

export function tokensOf(db: Db, orgId: number | null): Promise<TokenRow[]> {
  return db.all(sql`SELECT * FROM sign_in_tokens WHERE org_id = ${orgId ?? 0} AND revoked_at IS NULL ORDER BY id`, tokenRow)
}

export async function insertToken(db: Db, orgId: number | null, token: NewToken): Promise<TokenRow> {
  const row = await db.get(
    sql`INSERT INTO sign_in_tokens (org_id, label, mac, last4, scope, role, created_by, created_at, expires_at, user_id)
        VALUES (${orgId ?? 0}, ${token.label}, ${token.mac}, ${token.last4}, ${token.scope}, ${token.role}, ${token.created_by},
          ${token.created_at}, ${token.expires_at}, ${token.user_id})
        RETURNING *`,
    tokenRow,
  )
  if (row === undefined) throw new Error('The new token was not stored.')
  return row
}

/** Returns the row before the change; undefined when there was nothing to revoke. */
export function revokeToken(db: Db, orgId: number | null, id: number, now: number): Promise<TokenRow | undefined> {
  return db.get(
    sql`UPDATE sign_in_tokens SET revoked_at = ${now}
        WHERE id = ${id} AND org_id = ${orgId ?? 0} AND revoked_at IS NULL RETURNING *`,
    tokenRow,
  )
}

/** Never moves the time back, because replicas write late and in any order. */
export async function markUsed(db: Db, id: number, at: number): Promise<void> {
  await db.run(
    sql`UPDATE sign_in_tokens SET last_used_at = ${at} WHERE id = ${id} AND (last_used_at IS NULL OR last_used_at < ${at})`,
  )
}

/** Returns sessions that were ended before their expiry. */
export async function endedSessions(db: Db): Promise<Set<string>> {
  const rows = await db.all<{ jti: string }>(sql`SELECT jti FROM sign_in_ended`)
  return new Set(rows.map(({ jti }) => jti))
}

export async function endSession(db: Db, jti: string, expiresAt: number): Promise<void> {
  await db.run(sql`INSERT INTO sign_in_ended (jti, expires_at) VALUES (${jti}, ${expiresAt}) ON CONFLICT DO NOTHING`)
}

/** Deletes expired tokens; they are refused anyway. */
export async function forgetExpired(db: Db, now: number): Promise<void> {
  await db.run(sql`DELETE FROM sign_in_ended WHERE expires_at < ${now}`)
}
