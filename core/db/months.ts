// Computes UTC months in SQL that both engines accept, without date functions.
import type { Sql } from '../types/ports/db.ts'
import { sql } from './sql.ts'

/** In longer windows the last month contains the rest. */
const MAX_MONTHS = 1200

/** SQL for the month of `at` (epoch ms, within the window) as a BIGINT: months since year 0. */
export function monthsOf({ since, until }: { readonly since: number; readonly until: number }): Sql {
  const first = new Date(since)
  const cases: Sql[] = []
  for (let month = first.getUTCFullYear() * 12 + first.getUTCMonth(); ; month++) {
    const end = Date.UTC(Math.floor(month / 12), (month % 12) + 1, 1)
    if (end >= until || cases.length >= MAX_MONTHS)
      return cases.length === 0 ? sql`CAST(${month} AS BIGINT)` : chosen(cases, month)
    cases.push(sql`WHEN at < ${end} THEN ${month}`)
  }
}

function chosen(cases: readonly Sql[], last: number): Sql {
  return sql`CAST(CASE ${sql.join(cases, sql` `)} ELSE ${last} END AS BIGINT)`
}
