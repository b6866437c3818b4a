// Rows of background runs. A run belongs to the process that holds its lease. Its answer is a stored turn like any other.
import { z } from 'zod'
import { sql } from '../../../core/db/sql.ts'
import type { PluginGateway } from '../../../core/types/plugin/plugin.ts'
import type { Statement } from '../../../core/types/ports/db.ts'
import { mine, type Scope } from '../store.ts'
import type { Head } from '../turn.ts'

export type RunStatus = 'queued' | 'in_progress' | 'completed' | 'failed' | 'cancelled'

export interface RunRow {
  readonly token: string
  readonly org_id: number
  readonly key_id: number
  readonly status: RunStatus
  readonly created_at: number
  readonly request_sealed: string | null
  readonly head_sealed: string
}

export interface NewRun {
  readonly token: string
  readonly orgId: number | null
  readonly keyId: number | null
  /** JSON of the request without `background` and `stream`. */
  readonly request: string
  /** The response as it is queued. */
  readonly head: Head
  /** Epoch ms. */
  readonly createdAt: number
  readonly expiresAt: number
}

export interface RunStore {
  create(run: NewRun): Promise<void>
  /** Returns the run with its current status in the head; undefined when there is none for this caller. */
  find(scope: Scope, token: string): Promise<{ status: RunStatus; head: Head } | undefined>
  /** Takes the oldest queued runs. */
  claim(owner: string, now: number, leaseUntil: number, most: number): Promise<RunRow[]>
  openRequest(row: RunRow): Promise<string>
  /** Extends the leases of this process. Returns the tokens of its runs that go on: others were cancelled. */
  renew(owner: string, leaseUntil: number): Promise<Set<string>>
  /** For the unit that settles the run's request. */
  stored(token: string): Statement
  fail(row: Pick<RunRow, 'token' | 'org_id' | 'head_sealed'>, error: { code: string; message: string }): Promise<void>
  /** Runs whose process has ended. */
  lost(now: number): Promise<RunRow[]>
  cancel(scope: Scope, token: string): Promise<void>
  remove(scope: Scope, token: string): Promise<boolean>
  prune(now: number): Promise<void>
}

const row: z.ZodType<RunRow> = z.object({
  token: z.string(),
  org_id: z.int(),
  key_id: z.int(),
  status: z.enum(['queued', 'in_progress', 'completed', 'failed', 'cancelled']),
  created_at: z.number(),
  request_sealed: z.string().nullable(),
  head_sealed: z.string(),
})
const COLUMNS = sql`token, org_id, key_id, status, created_at, request_sealed, head_sealed`
const OPEN = sql`status IN ('queued', 'in_progress')`

export function runStore({ db, vault, clock }: Pick<PluginGateway, 'db' | 'vault' | 'clock'>): RunStore {
  const place = (orgId: number | null, token: string, column: 'request' | 'head') => ({
    table: 'responses_state_runs',
    id: token,
    column,
    orgId,
  })
  const orgOf = ({ org_id }: Pick<RunRow, 'org_id'>): number | null => (org_id === 0 ? null : org_id)
  const headOf = async (one: Pick<RunRow, 'token' | 'org_id' | 'head_sealed'>): Promise<Head> =>
    JSON.parse(await vault.open(one.head_sealed, place(orgOf(one), one.token, 'head'))) as Head

  return {
    async create({ token, orgId, keyId, request, head, createdAt, expiresAt }) {
      const requestSealed = await vault.seal(request, place(orgId, token, 'request'))
      const headSealed = await vault.seal(JSON.stringify(head), place(orgId, token, 'head'))
      await db.run(sql`INSERT INTO responses_state_runs
        (token, org_id, key_id, status, created_at, expires_at, lease_until, request_sealed, head_sealed)
        VALUES (${token}, ${orgId ?? 0}, ${keyId ?? 0}, 'queued', ${createdAt}, ${expiresAt}, 0, ${requestSealed}, ${headSealed})`)
    },
    async find(scope, token) {
      const found = await db.get(
        sql`SELECT ${COLUMNS} FROM responses_state_runs WHERE token = ${token} AND ${mine(scope, clock.now())}`,
        row,
      )
      if (found === undefined) return undefined
      return { status: found.status, head: { ...(await headOf(found)), status: found.status } }
    },
    async claim(owner, now, leaseUntil, most) {
      const free = sql`status = 'queued' AND expires_at > ${now}`
      return db.all(
        sql`UPDATE responses_state_runs SET status = 'in_progress', lease_owner = ${owner}, lease_until = ${leaseUntil}
          WHERE ${free} AND token IN (SELECT token FROM responses_state_runs WHERE ${free} ORDER BY created_at LIMIT ${most})
          RETURNING ${COLUMNS}`,
        row,
      )
    },
    openRequest: (one) => vault.open(one.request_sealed ?? '', place(orgOf(one), one.token, 'request')),
    async renew(owner, leaseUntil) {
      const kept = await db.all<{ token: string }>(
        sql`UPDATE responses_state_runs SET lease_until = ${leaseUntil}
          WHERE status = 'in_progress' AND lease_owner = ${owner} RETURNING token`,
      )
      return new Set(kept.map(({ token }) => token))
    },
    stored: (token) => ({
      sql: sql`UPDATE responses_state_runs SET status = 'completed', request_sealed = NULL
        WHERE token = ${token} AND status = 'in_progress'`,
    }),
    async fail(one, error) {
      const head = { ...(await headOf(one)), status: 'failed', error }
      const sealed = await vault.seal(JSON.stringify(head), place(orgOf(one), one.token, 'head'))
      await db.run(
        sql`UPDATE responses_state_runs SET status = 'failed', request_sealed = NULL, head_sealed = ${sealed}
          WHERE token = ${one.token} AND ${OPEN}`,
      )
    },
    lost: (now) =>
      db.all(
        sql`SELECT ${COLUMNS} FROM responses_state_runs WHERE status = 'in_progress' AND lease_until <= ${now} LIMIT 100`,
        row,
      ),
    async cancel(scope, token) {
      await db.run(
        sql`UPDATE responses_state_runs SET status = 'cancelled', request_sealed = NULL
          WHERE token = ${token} AND ${OPEN} AND ${mine(scope, clock.now())}`,
      )
    },
    async remove(scope, token) {
      const { changes } = await db.run(
        sql`DELETE FROM responses_state_runs WHERE token = ${token} AND ${mine(scope, clock.now())}`,
      )
      return changes === 1
    },
    async prune(now) {
      await db.run(sql`DELETE FROM responses_state_runs WHERE expires_at <= ${now}`)
    },
  }
}
