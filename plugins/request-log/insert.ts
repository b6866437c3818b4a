// Rows into the log: one INSERT for many rows, in a few lengths, so that the engine has prepared each text before.
import { sql } from '../../core/db/sql.ts'
import type { Db, Sql } from '../../core/types/db.ts'
import { addValues, COLUMNS } from './columns.ts'
import type { Entry } from './entry.ts'

/** A batch is cut into these lengths: PostgreSQL and SQLite bind at most some 32,000 values. */
const LENGTHS = [128, 64, 32, 16, 8, 4, 2, 1]

/** Writes in one transaction; what is there already, because an earlier try got through, stays. */
export function logWriter(db: Db): (entries: readonly Entry[]) => Promise<void> {
  const texts = new Map<number, string>()
  const textOf = (length: number): string => {
    const known = texts.get(length) ?? insertText(length)
    texts.set(length, known)
    return known
  }
  return async (entries) => {
    const statements: { sql: Sql }[] = []
    let at = 0
    for (const length of LENGTHS) {
      for (; entries.length - at >= length; at += length) {
        const params: unknown[] = []
        for (let i = at; i < at + length; i++) addValues(params, entries[i] as Entry)
        statements.push({ sql: { text: textOf(length), params } })
      }
    }
    await db.atomic(statements)
  }
}

function insertText(rows: number): string {
  const columns = sql.join(COLUMNS.map((name) => sql.id(name)))
  const values = sql.values(Array.from({ length: rows }, () => COLUMNS.map(() => null)))
  return sql`INSERT INTO request_log (${columns}) VALUES ${values} ON CONFLICT (request_id) DO NOTHING`.text
}
