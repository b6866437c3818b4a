// Remembers which rows each version of a kind changed, so that a view with many rows reads only these again.
import type { Db } from '../types/ports/db.ts'
import { sql } from './sql.ts'

/** A change of more rows is not remembered: reading all rows is faster then. */
const MOST_ROWS = 1000
/** Versions that are remembered. A process that is further behind reads all rows. */
const KEPT_VERSIONS = 1000

/** Runs in the transaction that made `version`. */
export async function rememberRows(tx: Db, kind: string, version: number, ids: readonly number[]): Promise<void> {
  const rows = [...new Set(ids)]
  if (rows.length === 0 || rows.length > MOST_ROWS) return
  await tx.run(
    sql`INSERT INTO gateway_changed_rows (kind, version, row_id) VALUES ${sql.values(rows.map((id) => [kind, version, id]))}`,
  )
  await tx.run(sql`DELETE FROM gateway_changed_rows WHERE kind = ${kind} AND version <= ${version - KEPT_VERSIONS}`)
}

/**
 * Returns the rows that changed after version `have` up to `version`. Returns null if they are not all known: a version may have named
 * no rows, may be forgotten, or may be of an earlier release.
 */
export async function changedRows(db: Db, kind: string, have: number, version: number): Promise<readonly number[] | null> {
  if (version - have > KEPT_VERSIONS) return null
  const found = await db.all<{ version: number; row_id: number }>(
    sql`SELECT version, row_id FROM gateway_changed_rows WHERE kind = ${kind} AND version > ${have} AND version <= ${version}`,
  )
  if (new Set(found.map((row) => row.version)).size !== version - have) return null
  const ids = new Set(found.map((row) => row.row_id))
  return ids.size > MOST_ROWS ? null : [...ids]
}

/** For a view's `renew`: puts the rows that were read again into `rows`, and removes those that are gone. */
export function replaceRows<Row>(
  rows: Map<number, Row>,
  ids: readonly number[],
  fresh: ReadonlyMap<number, Row>,
): Map<number, Row> {
  for (const id of ids) {
    const row = fresh.get(id)
    if (row === undefined) rows.delete(id)
    else rows.set(id, row)
  }
  return rows
}
