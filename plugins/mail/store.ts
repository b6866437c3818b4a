// Rows of the outbox. A letter is sealed until it is finished; then only facts about it stay.
import { z } from 'zod'
import { sql } from '../../core/db/sql.ts'
import type { Db } from '../../core/types/ports/db.ts'
import type { SealedAt } from '../../core/types/ports/ports.ts'

export const letterRow = z.object({
  id: z.string(),
  org_id: z.number().int(),
  kind: z.string(),
  domain: z.string(),
  letter: z.string().nullable(),
  status: z.enum(['waiting', 'sent', 'dead']),
  attempts: z.number().int(),
  next_attempt_at: z.number().int(),
  last_status: z.number().int().nullable(),
  last_error: z.string().nullable(),
  created_at: z.number().int(),
  finished_at: z.number().int().nullable(),
})
export type LetterRow = z.output<typeof letterRow>

/** The kind of a letter that is not delivered: its row is deleted where others are finished. */
export const NO_LETTER = 'none'

const DAY_MS = 86_400_000
const SENT_KEPT_MS = 7 * DAY_MS
const DEAD_KEPT_MS = 30 * DAY_MS

export const letterPlace = (id: string, orgId: number): SealedAt => ({
  table: 'outbox',
  id,
  column: 'letter',
  orgId: orgId === 0 ? null : orgId,
})

export interface NewLetter {
  readonly id: string
  readonly orgId: number
  readonly kind: string
  readonly domain: string
  readonly sealed: string
  /** Epoch ms. */
  readonly at: number
}

export interface Lease {
  readonly owner: string
  readonly until: number
}

/** @param lease the letter is inserted as already claimed. */
export async function insertLetter(db: Db, letter: NewLetter, lease: Lease | null): Promise<void> {
  const { id, orgId, kind, domain, sealed, at } = letter
  await db.run(
    sql`INSERT INTO mail_outbox (id, org_id, kind, domain, letter, next_attempt_at, created_at, lease_owner, lease_until)
        VALUES (${id}, ${orgId}, ${kind}, ${domain}, ${sealed}, ${at}, ${at}, ${lease?.owner ?? null}, ${lease?.until ?? 0})`,
  )
}

/** Claims the letter that is due for the longest time; undefined: none is due, or another process was quicker. */
export function claimNext(db: Db, lease: Lease, now: number): Promise<LetterRow | undefined> {
  return db.get(
    sql`UPDATE mail_outbox SET lease_owner = ${lease.owner}, lease_until = ${lease.until}
        WHERE id = (SELECT id FROM mail_outbox WHERE status = 'waiting' AND next_attempt_at <= ${now} AND lease_until <= ${now}
          ORDER BY next_attempt_at, id LIMIT 1)
        AND status = 'waiting' AND lease_until <= ${now} RETURNING *`,
    letterRow,
  )
}

/** Returns when the next letter can be claimed, epoch ms; null: none waits. */
export async function nextDue(db: Db): Promise<number | null> {
  const row = await db.get<{ at: number | null }>(
    sql`SELECT MIN(CASE WHEN lease_until > next_attempt_at THEN lease_until ELSE next_attempt_at END) AS at
        FROM mail_outbox WHERE status = 'waiting'`,
  )
  return row?.at == null ? null : Number(row.at)
}

export function letterOf(db: Db, id: string): Promise<LetterRow | undefined> {
  return db.get(sql`SELECT * FROM mail_outbox WHERE id = ${id}`, letterRow)
}

export interface Finished {
  readonly status: 'waiting' | 'sent' | 'dead'
  readonly nextAttemptAt: number
  readonly httpStatus: number | null
  readonly error: string | null
}

/** Stores the result of an attempt, unless the lease went to another process. */
export async function finish(db: Db, row: LetterRow, owner: string, result: Finished, now: number): Promise<boolean> {
  if (row.kind === NO_LETTER) {
    const { changes } = await db.run(sql`DELETE FROM mail_outbox WHERE id = ${row.id} AND lease_owner = ${owner}`)
    return changes === 1
  }
  const over = result.status !== 'waiting'
  const { changes } = await db.run(
    sql`UPDATE mail_outbox SET status = ${result.status}, attempts = ${row.attempts + 1}, next_attempt_at = ${result.nextAttemptAt},
          last_status = ${result.httpStatus}, last_error = ${result.error}, lease_owner = NULL, lease_until = 0,
          letter = ${over ? null : row.letter}, finished_at = ${over ? now : null}
        WHERE id = ${row.id} AND lease_owner = ${owner} AND status = 'waiting'`,
  )
  return changes === 1
}

/** Gives an interrupted attempt back: it does not count. */
export async function release(db: Db, id: string, owner: string): Promise<void> {
  await db.run(sql`UPDATE mail_outbox SET lease_owner = NULL, lease_until = 0 WHERE id = ${id} AND lease_owner = ${owner}`)
}

const summaryRow = z.object({
  waiting: z.coerce.number(),
  oldest: z.coerce.number().nullable(),
  retrying: z.coerce.number(),
  sent: z.coerce.number(),
  dead: z.coerce.number(),
  last_dead: z.coerce.number().nullable(),
})
export type Summary = z.output<typeof summaryRow>

/** Counts waiting letters, and letters that finished since `since`. */
export async function summary(db: Db, since: number): Promise<Summary> {
  const row = await db.get(
    sql`SELECT COUNT(CASE WHEN status = 'waiting' THEN 1 END) AS waiting,
          MIN(CASE WHEN status = 'waiting' THEN created_at END) AS oldest,
          COUNT(CASE WHEN status = 'waiting' AND attempts > 0 THEN 1 END) AS retrying,
          COUNT(CASE WHEN status = 'sent' THEN 1 END) AS sent,
          COUNT(CASE WHEN status = 'dead' THEN 1 END) AS dead,
          MAX(CASE WHEN status = 'dead' THEN finished_at END) AS last_dead
        FROM mail_outbox WHERE (status = 'waiting' OR finished_at >= ${since}) AND kind <> ${NO_LETTER}`,
    summaryRow,
  )
  return row as Summary
}

/** Returns letters whose last attempt failed, the newest first. */
export function failures(db: Db, limit: number): Promise<LetterRow[]> {
  return db.all(
    sql`SELECT * FROM mail_outbox WHERE status = 'dead' OR (status = 'waiting' AND attempts > 0)
        ORDER BY created_at DESC, id DESC LIMIT ${limit}`,
    letterRow,
  )
}

export async function prune(db: Db, now: number): Promise<void> {
  await db.run(
    sql`DELETE FROM mail_outbox WHERE finished_at < ${now - SENT_KEPT_MS}
        AND (status = 'sent' OR finished_at < ${now - DEAD_KEPT_MS})`,
  )
}
