// Stores users, their external identities and their one-time tokens as rows. A token's row holds its MAC only.
import { z } from 'zod'
import { sql } from '../../core/db/sql.ts'
import type { Db } from '../../core/types/ports/db.ts'

const nullableInt = z.number().int().nullable()

export const userRow = z.object({
  id: z.number().int(),
  email: z.string(),
  name: z.string().nullable(),
  email_verified_at: nullableInt,
  system_admin: z.number().transform((flag) => flag === 1),
  generation: z.number().int(),
  created_at: z.number().int(),
  disabled_at: nullableInt,
})
export type UserRow = z.output<typeof userRow>

export interface NewUser {
  readonly email: string
  readonly name: string | null
  /** Argon2id in PHC form; null: only the identity provider signs this person in. */
  readonly passwordHash: string | null
  readonly verified: boolean
  readonly systemAdmin: boolean
}

const COLUMNS = sql`id, email, name, email_verified_at, system_admin, generation, created_at, disabled_at`

/** Trims and lower-cases. Addresses that differ in nothing else are one account. */
export function normalEmail(email: string): string {
  return email.trim().toLowerCase()
}

/** Returns every user for the process's memory, without password hashes. */
export function livingUsers(db: Db): Promise<UserRow[]> {
  return db.all(sql`SELECT ${COLUMNS} FROM organizations_users WHERE deleted_at IS NULL ORDER BY id`, userRow)
}

/** Returns undefined when the address is taken. */
export function insertUser(db: Db, user: NewUser, now: number): Promise<UserRow | undefined> {
  return db.get(
    sql`INSERT INTO organizations_users (email, name, password_hash, email_verified_at, system_admin, created_at)
        VALUES (${user.email}, ${user.name}, ${user.passwordHash}, ${user.verified ? now : null}, ${user.systemAdmin}, ${now})
        ON CONFLICT DO NOTHING RETURNING ${COLUMNS}`,
    userRow,
  )
}

const credential = z.object({ id: z.number().int(), password_hash: z.string().nullable(), disabled_at: nullableInt })

/** Returns what a sign-in is checked against. */
export function credentialOf(db: Db, email: string): Promise<z.output<typeof credential> | undefined> {
  return db.get(
    sql`SELECT id, password_hash, disabled_at FROM organizations_users WHERE email = ${email} AND deleted_at IS NULL`,
    credential,
  )
}

export async function markVerified(db: Db, userId: number, now: number): Promise<void> {
  await db.run(
    sql`UPDATE organizations_users SET email_verified_at = ${now} WHERE id = ${userId} AND email_verified_at IS NULL AND deleted_at IS NULL`,
  )
}

/** Ends every session of the user. */
export async function endSessions(db: Db, userId: number): Promise<void> {
  await db.run(sql`UPDATE organizations_users SET generation = generation + 1 WHERE id = ${userId}`)
}

export async function setPassword(db: Db, userId: number, passwordHash: string): Promise<void> {
  await db.run(sql`UPDATE organizations_users SET password_hash = ${passwordHash} WHERE id = ${userId} AND deleted_at IS NULL`)
}

/** Ends the sessions too. The identity provider, or a reset, lets the person in again. */
export async function forgetPassword(db: Db, userId: number): Promise<void> {
  await db.run(sql`UPDATE organizations_users SET password_hash = NULL, generation = generation + 1 WHERE id = ${userId}`)
}

export async function setDisabled(db: Db, userId: number, at: number | null): Promise<void> {
  await db.run(
    sql`UPDATE organizations_users SET disabled_at = ${at}, generation = generation + 1 WHERE id = ${userId} AND deleted_at IS NULL`,
  )
}

export async function setSystemAdmin(db: Db, userId: number, systemAdmin: boolean): Promise<void> {
  await db.run(sql`UPDATE organizations_users SET system_admin = ${systemAdmin} WHERE id = ${userId} AND deleted_at IS NULL`)
}

/** Removes what identifies the person. The number stays, so that it never names another one. */
export async function deleteUser(db: Db, userId: number, now: number): Promise<void> {
  await db.run(sql`DELETE FROM organizations_members WHERE user_id = ${userId}`)
  await db.run(sql`DELETE FROM organizations_identities WHERE user_id = ${userId}`)
  await db.run(sql`DELETE FROM organizations_tokens WHERE user_id = ${userId}`)
  await db.run(
    sql`UPDATE organizations_users SET email = '', name = NULL, password_hash = NULL, email_verified_at = NULL, system_admin = 0,
          generation = generation + 1, deleted_at = ${now} WHERE id = ${userId} AND deleted_at IS NULL`,
  )
}

const owner = z.object({ user_id: z.number().int() })

export async function userOfIdentity(db: Db, issuer: string, subject: string): Promise<number | null> {
  const row = await db.get(
    sql`SELECT user_id FROM organizations_identities WHERE issuer = ${issuer} AND subject = ${subject}`,
    owner,
  )
  return row?.user_id ?? null
}

export async function insertIdentity(db: Db, issuer: string, subject: string, userId: number, now: number): Promise<void> {
  await db.run(
    sql`INSERT INTO organizations_identities (issuer, subject, user_id, created_at) VALUES (${issuer}, ${subject}, ${userId}, ${now})`,
  )
}

export type TokenKind = 'verify' | 'reset'

/** Replaces earlier tokens of this kind: only the newest letter's link works. */
export async function insertToken(db: Db, kind: TokenKind, mac: string, userId: number, expiresAt: number): Promise<void> {
  await db.run(sql`DELETE FROM organizations_tokens WHERE user_id = ${userId} AND kind = ${kind} AND used_at IS NULL`)
  await db.run(
    sql`INSERT INTO organizations_tokens (mac, kind, user_id, expires_at) VALUES (${mac}, ${kind}, ${userId}, ${expiresAt})`,
  )
}

/** Uses the token up. null: it is unknown, of another kind, used or expired. */
export async function takeToken(db: Db, kind: TokenKind, mac: string, now: number): Promise<number | null> {
  const row = await db.get(
    sql`UPDATE organizations_tokens SET used_at = ${now}
        WHERE mac = ${mac} AND kind = ${kind} AND used_at IS NULL AND expires_at > ${now} RETURNING user_id`,
    owner,
  )
  return row?.user_id ?? null
}

export async function forgetTokens(db: Db, now: number): Promise<void> {
  await db.run(sql`DELETE FROM organizations_tokens WHERE expires_at < ${now}`)
}

export async function tokenIsGood(db: Db, kind: TokenKind, mac: string, now: number): Promise<boolean> {
  const row = await db.get(
    sql`SELECT user_id FROM organizations_tokens WHERE mac = ${mac} AND kind = ${kind} AND used_at IS NULL AND expires_at > ${now}`,
  )
  return row !== undefined
}
