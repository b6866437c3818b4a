// Stores signed-in accounts, one row for each connection. Tokens are sealed with the connection's id: a copied row does not open.
import { z } from 'zod'
import { sql } from '../../core/db/sql.ts'
import { jsonColumn } from '../../core/schema/json-column.ts'
import type { Db } from '../../core/types/ports/db.ts'
import type { Vault } from '../../core/types/ports/ports.ts'
import type { Identity } from './identity.ts'

const list = jsonColumn(z.array(z.string()))
const int = z.number().int()

export const accountRow = z.object({
  connection_id: int,
  org_id: int,
  provider: z.string(),
  subject: z.string().nullable(),
  email: z.string().nullable(),
  display_name: z.string().nullable(),
  plan: z.string().nullable(),
  scopes: list,
  tokens: z.string(),
  expires_at: int.nullable(),
  refreshed_at: int,
  status: z.enum(['active', 'reauth_required']),
  version: int,
  lease_owner: z.string().nullable(),
  lease_until: int,
  created_at: int,
})
export type AccountRow = z.output<typeof accountRow>

export const tokenSet = z.object({
  access: z.string(),
  refresh: z.string().nullable(),
  /** The refresh token before the last rotation, until a newer one has worked. */
  previous: z.string().nullable(),
})
export type TokenSet = z.output<typeof tokenSet>

export interface TokenSealer {
  prepare(orgId: number): Promise<void>
  seal(tokens: TokenSet, connectionId: number, orgId: number): Promise<string>
  /** @throws Error when the row was altered or copied. */
  open(row: Pick<AccountRow, 'tokens' | 'connection_id' | 'org_id'>): Promise<TokenSet>
}

export function tokenSealer(vault: Vault): TokenSealer {
  const at = (id: number, orgId: number) => ({
    table: 'oauth_accounts',
    id,
    column: 'tokens',
    orgId: orgId === 0 ? null : orgId,
  })
  return {
    prepare: (orgId) => vault.prepare(orgId === 0 ? null : orgId),
    seal: (tokens, id, orgId) => vault.seal(JSON.stringify(tokens), at(id, orgId)),
    open: async (row) => tokenSet.parse(JSON.parse(await vault.open(row.tokens, at(row.connection_id, row.org_id)))),
  }
}

export function allAccounts(db: Db): Promise<AccountRow[]> {
  return db.all(sql`SELECT * FROM oauth_accounts ORDER BY connection_id`, accountRow)
}

export function accountOf(db: Db, connectionId: number): Promise<AccountRow | undefined> {
  return db.get(sql`SELECT * FROM oauth_accounts WHERE connection_id = ${connectionId}`, accountRow)
}

/** Accounts whose tokens expire before `at`. */
export function expiringAccounts(db: Db, at: number): Promise<AccountRow[]> {
  return db.all(sql`SELECT * FROM oauth_accounts WHERE status = 'active' AND expires_at < ${at} LIMIT 1000`, accountRow)
}

/** Returns the newest account of the same person at the same provider: one whose connection was removed has a row until the next clean-up. */
export async function sameAccount(
  db: Db,
  orgId: number,
  provider: string,
  { subject, email }: Identity,
): Promise<AccountRow | undefined> {
  const at = sql`org_id = ${orgId} AND provider = ${provider}`
  const newest = sql`ORDER BY connection_id DESC LIMIT 1`
  if (subject !== null)
    return db.get(sql`SELECT * FROM oauth_accounts WHERE ${at} AND subject = ${subject} ${newest}`, accountRow)
  return email === null
    ? undefined
    : db.get(sql`SELECT * FROM oauth_accounts WHERE ${at} AND email = ${email} ${newest}`, accountRow)
}

export interface SignedIn {
  readonly connectionId: number
  readonly orgId: number
  readonly provider: string
  readonly identity: Identity
  readonly scopes: readonly string[]
  readonly sealed: string
  readonly expiresAt: number | null
  readonly now: number
}

/** A new account, or the tokens of a new sign-in to the same one. */
export async function storeSignIn(db: Db, given: SignedIn): Promise<void> {
  const { identity, now } = given
  await db.run(
    sql`INSERT INTO oauth_accounts (connection_id, org_id, provider, subject, email, display_name, plan, scopes, tokens, expires_at,
          refreshed_at, created_at)
        VALUES (${given.connectionId}, ${given.orgId}, ${given.provider}, ${identity.subject}, ${identity.email},
          ${identity.displayName}, ${identity.plan}, ${JSON.stringify(given.scopes)}, ${given.sealed}, ${given.expiresAt}, ${now}, ${now})
        ON CONFLICT (connection_id) DO UPDATE SET subject = excluded.subject, email = excluded.email,
          display_name = excluded.display_name, plan = excluded.plan, scopes = excluded.scopes, tokens = excluded.tokens,
          expires_at = excluded.expires_at, refreshed_at = excluded.refreshed_at, status = 'active',
          version = oauth_accounts.version + 1, lease_owner = NULL, lease_until = 0`,
  )
}

/** Returns true when this process may refresh the account now. */
export async function takeLease(db: Db, row: AccountRow, owner: string, now: number, until: number): Promise<boolean> {
  const { changes } = await db.run(
    sql`UPDATE oauth_accounts SET lease_owner = ${owner}, lease_until = ${until}
        WHERE connection_id = ${row.connection_id} AND version = ${row.version} AND lease_until <= ${now}`,
  )
  return changes === 1
}

export async function releaseLease(db: Db, connectionId: number, owner: string): Promise<void> {
  await db.run(
    sql`UPDATE oauth_accounts SET lease_owner = NULL, lease_until = 0 WHERE connection_id = ${connectionId} AND lease_owner = ${owner}`,
  )
}

/** Returns false when another sign-in or refresh was stored first. */
export async function storeRefresh(
  db: Db,
  row: AccountRow,
  { sealed, expiresAt, now }: { sealed: string; expiresAt: number | null; now: number },
): Promise<boolean> {
  const { changes } = await db.run(
    sql`UPDATE oauth_accounts SET tokens = ${sealed}, expires_at = ${expiresAt}, refreshed_at = ${now}, version = version + 1,
          lease_owner = NULL, lease_until = 0
        WHERE connection_id = ${row.connection_id} AND version = ${row.version}`,
  )
  return changes === 1
}

export async function requireSignIn(db: Db, row: AccountRow): Promise<void> {
  await db.run(
    sql`UPDATE oauth_accounts SET status = 'reauth_required', lease_owner = NULL, lease_until = 0
        WHERE connection_id = ${row.connection_id} AND version = ${row.version}`,
  )
}

export async function removeAccount(db: Db, connectionId: number): Promise<void> {
  await db.run(sql`DELETE FROM oauth_accounts WHERE connection_id = ${connectionId}`)
}
