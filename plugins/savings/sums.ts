// Sums receipts in the database: in total, by one column, or by the groups of a usage report.
import { z } from 'zod'
import { monthsOf } from '../../core/db/months.ts'
import { sql } from '../../core/db/sql.ts'
import type { Db, Sql } from '../../core/types/ports/db.ts'
import type { SavingsFilter, SavingsGroup } from './service.ts'

export interface Sum {
  readonly receipts: number
  readonly tokensSaved: number
  readonly usdSavedNano: number
}

export const ROLLUPS = ['day', 'source', 'model', 'key', 'virtual_model'] as const
export type Rollup = (typeof ROLLUPS)[number]

/** Above 2^53 the last digits are lost, but the request still works. */
const total = z.number()
const sumRow = z
  .object({ key: z.string().nullable(), receipts: z.number().int(), tokens_saved: total, usd_saved_nano: total })
  .transform(({ key, receipts, tokens_saved, usd_saved_nano }) => ({
    key,
    receipts,
    tokensSaved: tokens_saved,
    usdSavedNano: usd_saved_nano,
  }))

const TOTALS = sql`COUNT(*) AS receipts, COALESCE(SUM(tokens_saved), 0) AS tokens_saved,
  COALESCE(SUM(usd_saved_nano), 0) AS usd_saved_nano`

/** `provider/model`, the name of a model in rollups and filters. */
export const MODEL_NAME = sql`(COALESCE(provider, '') || '/' || model)`

const ROLLUP_KEYS: Readonly<Record<Rollup, Sql>> = {
  // A literal: SQLite would read a parameter as a float and divide as such.
  day: sql`CAST(at / 86400000 AS TEXT)`,
  source: sql`source`,
  model: MODEL_NAME,
  key: sql`CAST(key_id AS TEXT)`,
  virtual_model: sql`virtual_model`,
}

const DAY_MS = 86_400_000

/** Returns sums of the chain, the largest savings first, days in order; at most `limit`. */
export async function rolledUp(
  db: Db,
  filter: SavingsFilter,
  by: Rollup,
  limit: number,
): Promise<(Sum & { key: string | null })[]> {
  const order = by === 'day' ? sql`first_at` : sql`usd_saved_nano DESC, receipts DESC, key`
  const rows = await db.all(
    sql`SELECT * FROM (
          SELECT ${ROLLUP_KEYS[by]} AS key, MIN(at) AS first_at, ${TOTALS} FROM savings_receipts
          WHERE ${matching(filter)} AND seq IS NOT NULL GROUP BY ${ROLLUP_KEYS[by]}
        ) sums ORDER BY ${order} LIMIT ${limit}`,
    sumRow,
  )
  if (by !== 'day') return rows
  return rows.map((row) => ({ ...row, key: new Date(Number(row.key) * DAY_MS).toISOString().slice(0, 10) }))
}

/** Returns the total of the chain. */
export async function totalOf(db: Db, filter: SavingsFilter): Promise<Sum> {
  const [sum] = await db.all(
    sql`SELECT NULL AS key, ${TOTALS} FROM savings_receipts WHERE ${matching(filter)} AND seq IS NOT NULL`,
    sumRow,
  )
  return sum as Sum
}

/** Returns the sum of every receipt, also of those that are not in the chain yet. */
export async function savedIn(db: Db, filter: SavingsFilter): Promise<{ usdSavedNano: number; tokensSaved: number }> {
  const row = await db.get(
    sql`SELECT COALESCE(SUM(usd_saved_nano), 0) AS nano, COALESCE(SUM(tokens_saved), 0) AS tokens FROM savings_receipts
        WHERE ${matching(filter)}`,
    z.object({ nano: total, tokens: total }),
  )
  return { usdSavedNano: row?.nano ?? 0, tokensSaved: row?.tokens ?? 0 }
}

/** The same values as in the ledger's rows, as text. */
const COLUMNS: Readonly<Record<Exclude<SavingsGroup, 'month'>, Sql>> = {
  org: sql`CAST(org_id AS TEXT)`,
  key: sql`CAST(COALESCE(key_id, -1) AS TEXT)`,
  cost_center: sql`COALESCE(cost_center, '')`,
  user: sql`COALESCE(user_id, '')`,
  provider: sql`COALESCE(provider, '')`,
  model: sql`COALESCE(model, '')`,
  virtual_model: sql`COALESCE(virtual_model, '')`,
  day: sql`CAST(at / 86400000 AS TEXT)`,
  source: sql`usage_source`,
}

/** Returns nano-USD of each group, in their order; 0 for a group without savings. */
export async function savedOf(
  db: Db,
  filter: SavingsFilter,
  by: readonly SavingsGroup[],
  groups: readonly (readonly string[])[],
): Promise<number[]> {
  if (groups.length === 0) return []
  if (by.length === 0) return groups.map(() => 0).fill((await savedIn(db, filter)).usdSavedNano, 0, 1)
  const columns = by.map((group, index) => {
    const column = group === 'month' ? sql`CAST(${monthsOf(filter)} AS TEXT)` : COLUMNS[group]
    return sql`${column} AS ${sql.id(`g${index}`)}`
  })
  const names = sql.join(by.map((_, index) => sql.id(`g${index}`)))
  const rows = await db.all<Record<string, string | number>>(
    sql`SELECT ${names}, SUM(usd_saved_nano) AS nano FROM (
          SELECT ${sql.join(columns)}, usd_saved_nano FROM savings_receipts WHERE ${matching(filter)}
        ) saved WHERE (${names}) IN (VALUES ${sql.values(groups)}) GROUP BY ${names}`,
  )
  const found = new Map(rows.map((row) => [JSON.stringify(by.map((_, index) => row[`g${index}`])), Number(row.nano)]))
  return groups.map((group) => found.get(JSON.stringify(group)) ?? 0)
}

function matching({ since, until, orgId }: SavingsFilter): Sql {
  const all = [sql`at >= ${since} AND at < ${until}`]
  if (orgId !== undefined) all.push(sql`org_id = ${orgId ?? 0}`)
  return sql.and(all)
}
