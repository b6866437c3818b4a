// Caps over the windows of accounts: the check of an admission, the sum for displays, and the end of old windows.
import { sql } from '../../core/db/sql.ts'
import type { Db, Sql, Statement } from '../../core/types/ports/db.ts'
import { nano } from './accounts.ts'
import type { AccountRange, Cap } from './service.ts'

const PART = `COALESCE((SELECT SUM(spent_nano + reserved_nano) FROM ledger_accounts
    WHERE account = ? AND window_start >= ? AND window_start < ?), 0)`

/**
 * Returns a row when the amount fits. The unit holds the lock of the cap, so no other reservation comes between this check and the
 * reservation. A trace shows that the unit was committed before and only the answer was lost.
 */
const FITS = `SELECT 1 AS fits FROM (SELECT ${PART} + ${PART} AS used) AS counted
  WHERE EXISTS (SELECT 1 FROM ledger_dispatch WHERE request_id = ?)
    OR (used < CAST(? AS BIGINT) AND used + CAST(? AS BIGINT) <= CAST(? AS BIGINT))`

const NOTHING: AccountRange = { name: '', from: 0, until: 0 }

export function fits(requestId: string, { lock, over, amount, limit, refuse }: Cap): Statement {
  const ranges = [over[0] ?? NOTHING, over[1] ?? NOTHING].flatMap(({ name, from, until }) => [name, from, until])
  return { sql: { text: FITS, params: [...ranges, requestId, limit, amount, limit] }, expect: 1, refuse, lock }
}

export async function sumOf(db: Db, over: readonly AccountRange[]): Promise<number> {
  let sum = 0
  for (const range of over) sum += (await db.get<{ used: number }>(sumSql(range)))?.used ?? 0
  return nano.parse(sum)
}

function sumSql({ name, from, until }: AccountRange): Sql {
  return sql`SELECT CAST(COALESCE(SUM(spent_nano + reserved_nano), 0) AS BIGINT) AS used FROM ledger_accounts
    WHERE account = ${name} AND window_start >= ${from} AND window_start < ${until}`
}

/** Deletes windows that count no more. */
export async function forgetBefore(db: Db, prefix: string, before: number): Promise<void> {
  const after = prefix.slice(0, -1) + String.fromCharCode(prefix.charCodeAt(prefix.length - 1) + 1)
  await db.run(sql`DELETE FROM ledger_accounts
    WHERE account >= ${prefix} AND account < ${after} AND window_start < ${before} AND reserved_nano = 0`)
}
