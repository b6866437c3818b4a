// Accounts in SQL. The texts are constant, because they run for each request and engines keep them prepared.
import { z } from 'zod'
import { sql } from '../../core/db/sql.ts'
import type { Db, Sql, Statement } from '../../core/types/ports/db.ts'
import type { Account, Balance, Hold } from './service.ts'

/**
 * Either the reservation fits, or no row changes. A request's trace is written after its reservations. When the trace exists already,
 * this unit was committed before and only the answer was lost, so the reservation is taken. Both run under the account's lock.
 */
const TAKEN = 'EXISTS (SELECT 1 FROM ledger_dispatch WHERE request_id = ?)'
const RESERVE = `INSERT INTO ledger_accounts (account, window_start, spent_nano, reserved_nano, touched_at)
  SELECT ?, ?, 0, CASE WHEN ${TAKEN} THEN 0 ELSE CAST(? AS BIGINT) END, ?
  WHERE ${TAKEN} OR (CAST(? AS BIGINT) <= CAST(? AS BIGINT) AND CAST(? AS BIGINT) > 0)
  ON CONFLICT (account, window_start) DO UPDATE
  SET reserved_nano = ledger_accounts.reserved_nano + excluded.reserved_nano, touched_at = excluded.touched_at
  WHERE ${TAKEN} OR (ledger_accounts.spent_nano < ?
    AND ledger_accounts.spent_nano + ledger_accounts.reserved_nano + excluded.reserved_nano <= ?)`

/** The column with the amount that a sweep booked, by the measure of the account. */
type Booked = 'booked_nano' | 'booked_tokens'

/** Depends on the trace, which changes in the same unit: a second run, or one without a trace, changes nothing. */
const releaseText = (booked: Booked) => `UPDATE ledger_accounts
  SET spent_nano = spent_nano - COALESCE((SELECT ${booked} FROM ledger_dispatch WHERE request_id = ?), 0),
    reserved_nano = reserved_nano
        - COALESCE((SELECT CASE WHEN swept_at IS NULL THEN CAST(? AS BIGINT) ELSE 0 END
                    FROM ledger_dispatch WHERE request_id = ?), 0),
    requests = requests
        - COALESCE((SELECT CASE WHEN swept_at IS NULL THEN 0 ELSE 1 END FROM ledger_dispatch WHERE request_id = ?), 0)
  WHERE account = ? AND window_start = ?`
const RELEASE = { charge: releaseText('booked_nano'), shared_tokens: releaseText('booked_tokens') } as const

const FORGET_IDLE = `DELETE FROM ledger_accounts
  WHERE account = ? AND window_start = ? AND touched_at < ? AND reserved_nano = 0`

/**
 * A second run changes nothing, because the request's rows exist by then. A request that was settled as interrupted is corrected to its
 * real cost.
 */
const bookText = (
  booked: Booked,
) => `INSERT INTO ledger_accounts (account, window_start, spent_nano, reserved_nano, touched_at, requests)
  SELECT ?, ?, ?, 0, ?, 1 WHERE NOT EXISTS (SELECT 1 FROM ledger_usage WHERE request_id = ? AND interrupted = 0)
  ON CONFLICT (account, window_start) DO UPDATE
  SET spent_nano = ledger_accounts.spent_nano + excluded.spent_nano
        - COALESCE((SELECT ${booked} FROM ledger_dispatch WHERE request_id = ?), 0),
    reserved_nano = ledger_accounts.reserved_nano
        - COALESCE((SELECT CASE WHEN swept_at IS NULL THEN CAST(? AS BIGINT) ELSE 0 END
                    FROM ledger_dispatch WHERE request_id = ?), 0),
    touched_at = excluded.touched_at, requests = ledger_accounts.requests + 1`
const BOOK = { charge: bookText('booked_nano'), shared_tokens: bookText('booked_tokens') } as const

const CHARGE = `INSERT INTO ledger_accounts (account, window_start, spent_nano, reserved_nano, touched_at, requests)
  SELECT ?, ?, ?, 0, ?, 1 WHERE NOT EXISTS (SELECT 1 FROM ledger_usage WHERE request_id = ?)
  ON CONFLICT (account, window_start) DO UPDATE
  SET spent_nano = ledger_accounts.spent_nano + excluded.spent_nano, touched_at = excluded.touched_at,
    requests = ledger_accounts.requests + 1`

export function reserve(requestId: string, hold: Hold, now: number): Statement[] {
  const { name, windowStart, amountNano, limitNano, idleMs, refuse } = hold
  const taking: Statement = {
    sql: {
      text: RESERVE,
      params: [
        ...[name, windowStart, requestId, amountNano, now],
        ...[requestId, amountNano, limitNano, limitNano],
        ...[requestId, limitNano, limitNano],
      ],
    },
    expect: 1,
    refuse,
    lock: name,
  }
  if (idleMs === undefined) return [taking]
  return [{ sql: { text: FORGET_IDLE, params: [name, windowStart, now - idleMs] }, lock: name }, taking]
}

/** The part of a reservation that is stored with the trace. */
type Held = Pick<Hold, 'name' | 'windowStart' | 'amountNano' | 'measure'>

/** @param spent in the measure of the hold. */
export function book(requestId: string, hold: Held, spent: number, now: number): Statement {
  const { name, windowStart, amountNano, measure = 'charge' } = hold
  const params = [name, windowStart, spent, now, requestId, requestId, amountNano, requestId]
  return { sql: { text: BOOK[measure], params }, lock: name }
}

/** For a request that was never sent: releases its reservation and reverts what a sweep booked meanwhile. */
export function release(requestId: string, { name, windowStart, amountNano, measure = 'charge' }: Held): Statement {
  const params = [requestId, amountNano, requestId, requestId, name, windowStart]
  return { sql: { text: RELEASE[measure], params }, lock: name }
}

/** Books without a reservation. */
export function charge(requestId: string, { name, windowStart }: Account, spentNano: number, now: number): Statement {
  return { sql: { text: CHARGE, params: [name, windowStart, spentNano, now, requestId] }, lock: name }
}

/** For a request that will never settle. It runs in the transaction that records this. */
export function bookInterrupted(hold: Held, spent: number, now: number): Sql {
  return sql`UPDATE ledger_accounts
    SET spent_nano = spent_nano + ${spent}, reserved_nano = reserved_nano - ${hold.amountNano}, touched_at = ${now},
      requests = requests + 1
    WHERE account = ${hold.name} AND window_start = ${hold.windowStart}`
}

/** Above 2^53 the last digits are lost, but the budget still works. */
export const nano = z.number()
const balanceRow = z
  .object({
    account: z.string(),
    window_start: z.number().int(),
    spent_nano: nano,
    reserved_nano: nano,
    requests: z.number().int(),
  })
  .transform(
    (row): Balance => ({
      name: row.account,
      windowStart: row.window_start,
      spentNano: row.spent_nano,
      reservedNano: row.reserved_nano,
      requests: row.requests,
    }),
  )

const COLUMNS = sql`account, window_start, spent_nano, reserved_nano, requests`

export function balances(db: Db, accounts: readonly Account[]): Promise<Balance[]> {
  if (accounts.length === 0) return Promise.resolve([])
  const wanted = accounts.map(({ name, windowStart }) => sql`account = ${name} AND window_start = ${windowStart}`)
  return db.all(sql`SELECT ${COLUMNS} FROM ledger_accounts WHERE ${sql.or(wanted)}`, balanceRow)
}

/** A half-open range, so that both engines use an index, whatever their collation for LIKE is. */
function begins(prefix: string) {
  const after = prefix.slice(0, -1) + String.fromCharCode(prefix.charCodeAt(prefix.length - 1) + 1)
  return sql`account >= ${prefix} AND account < ${after}`
}

export async function accountNames(db: Db, prefix: string): Promise<string[]> {
  const rows = await db.all<{ account: string }>(sql`SELECT DISTINCT account FROM ledger_accounts WHERE ${begins(prefix)}`)
  return rows.map(({ account }) => account)
}

const AT_ONCE = 500

export async function dropAccounts(db: Db, names: readonly string[]): Promise<void> {
  for (let at = 0; at < names.length; at += AT_ONCE)
    await db.run(sql`DELETE FROM ledger_accounts WHERE account IN ${sql.in(names.slice(at, at + AT_ONCE))}`)
}

export function balancesOf(db: Db, prefix: string, since: number): Promise<Balance[]> {
  return db.all(
    sql`SELECT ${COLUMNS} FROM ledger_accounts
        WHERE ${begins(prefix)} AND (window_start >= ${since} OR window_start = 0)
        ORDER BY account, window_start`,
    balanceRow,
  )
}

/** @param requests number of requests that spent it; default: the booked number. */
export async function restate(
  db: Db,
  { name, windowStart }: Account,
  spentNano: number,
  now: number,
  requests: number | null = null,
): Promise<void> {
  await db.run(
    sql`INSERT INTO ledger_accounts (account, window_start, spent_nano, reserved_nano, touched_at, requests)
        VALUES (${name}, ${windowStart}, ${spentNano}, 0, ${now}, ${requests ?? 0})
        ON CONFLICT (account, window_start) DO UPDATE SET spent_nano = excluded.spent_nano, touched_at = excluded.touched_at,
          requests = ${requests === null ? sql`ledger_accounts.requests` : sql`excluded.requests`}`,
  )
}
