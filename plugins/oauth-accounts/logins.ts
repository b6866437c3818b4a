// Sign-ins under way, in the database: any replica can finish one, and each is finished once. Their secrets are sealed.
import { z } from 'zod'
import { sql } from '../../core/db/sql.ts'
import { randomId } from '../../core/ids/ids.ts'
import type { Db } from '../../core/types/ports/db.ts'
import type { Clock, Vault } from '../../core/types/ports/ports.ts'

const int = z.number().int()
const loginRow = z.object({
  id: z.string(),
  org_id: int,
  provider: z.string(),
  kind: z.enum(['code', 'device']),
  sealed: z.string(),
  expires_at: int,
  interval_ms: int,
  next_poll_at: int,
  outcome: z.enum(['used', 'complete', 'denied', 'expired']).nullable(),
  connection_id: int.nullable(),
})
export type LoginRow = z.output<typeof loginRow>

export interface NewLogin {
  readonly orgId: number
  readonly provider: string
  readonly kind: 'code' | 'device'
  readonly secrets: Readonly<Record<string, string>>
  readonly expiresAt: number
  readonly intervalMs?: number
}

export interface Logins {
  /** Returns the key that finishes the login: 256 random bits. The database holds its hash only. */
  begin(login: NewLogin): Promise<string>
  find(orgId: number, kind: LoginRow['kind'], key: string): Promise<LoginRow | undefined>
  /** Returns true for the first caller, over all replicas. */
  use(row: LoginRow): Promise<boolean>
  /** Returns true when a poll of the vendor is due, and reserves it. */
  due(row: LoginRow): Promise<boolean>
  /** The next poll is at least this far away. */
  wait(row: LoginRow, intervalMs: number): Promise<void>
  end(row: LoginRow, outcome: 'complete' | 'denied' | 'expired', connectionId: number | null): Promise<void>
  secrets(row: LoginRow): Promise<Readonly<Record<string, string>>>
  forgetOld(): Promise<void>
}

/** Finished logins stay for this time, so that a late poll learns the result. */
const KEPT_MS = 60 * 60_000

export function loginsOf(db: Db, vault: Vault, clock: Pick<Clock, 'now'>): Logins {
  const hashOf = (key: string): string => vault.mac('login', key)
  const at = (id: string, orgId: number) => ({
    table: 'oauth_accounts_logins',
    id,
    column: 'sealed',
    orgId: orgId === 0 ? null : orgId,
  })
  const changed = async (statement: Parameters<Db['run']>[0]): Promise<boolean> => (await db.run(statement)).changes === 1
  return {
    async begin({ orgId, provider, kind, secrets, expiresAt, intervalMs = 0 }) {
      const key = randomId('', 43)
      const id = hashOf(key)
      await vault.prepare(orgId === 0 ? null : orgId)
      const sealed = await vault.seal(JSON.stringify(secrets), at(id, orgId))
      const next = intervalMs === 0 ? 0 : clock.now() + intervalMs
      await db.run(
        sql`INSERT INTO oauth_accounts_logins (id, org_id, provider, kind, sealed, expires_at, interval_ms, next_poll_at)
            VALUES (${id}, ${orgId}, ${provider}, ${kind}, ${sealed}, ${expiresAt}, ${intervalMs}, ${next})`,
      )
      return key
    },
    find: (orgId, kind, key) =>
      db.get(
        sql`SELECT * FROM oauth_accounts_logins WHERE id = ${hashOf(key)} AND org_id = ${orgId} AND kind = ${kind}`,
        loginRow,
      ),
    use: ({ id }) =>
      changed(
        sql`UPDATE oauth_accounts_logins SET outcome = 'used'
            WHERE id = ${id} AND outcome IS NULL AND expires_at > ${clock.now()}`,
      ),
    due: ({ id }) =>
      changed(
        sql`UPDATE oauth_accounts_logins SET next_poll_at = ${clock.now()} + interval_ms
            WHERE id = ${id} AND outcome IS NULL AND next_poll_at <= ${clock.now()}`,
      ),
    async wait({ id }, intervalMs) {
      await db.run(
        sql`UPDATE oauth_accounts_logins SET interval_ms = ${intervalMs}, next_poll_at = ${clock.now() + intervalMs} WHERE id = ${id}`,
      )
    },
    async end({ id }, outcome, connectionId) {
      await db.run(
        sql`UPDATE oauth_accounts_logins SET outcome = ${outcome}, connection_id = ${connectionId}, sealed = '' WHERE id = ${id}`,
      )
    },
    async secrets(row) {
      return JSON.parse(await vault.open(row.sealed, at(row.id, row.org_id))) as Record<string, string>
    },
    async forgetOld() {
      await db.run(sql`DELETE FROM oauth_accounts_logins WHERE expires_at < ${clock.now() - KEPT_MS}`)
    },
  }
}
