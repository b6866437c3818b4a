// A group commit on SQLite: one synchronous transaction, so that nothing can come between its statements.
import type { Statement, UnitResult } from '../../../core/types/db.ts'
import type { SqliteConnection } from './connection.ts'
import { isSqliteFault } from './faults.ts'

export function commitSync(connection: SqliteConnection, units: readonly (readonly Statement[])[]): UnitResult[] {
  connection.command('BEGIN IMMEDIATE')
  try {
    const results = units.map((unit) => savedUnit(connection, unit))
    connection.command('COMMIT')
    return results
  } catch (error) {
    // SQLite rolls back by itself on some faults.
    if (connection.inTransaction) connection.command('ROLLBACK')
    throw error
  }
}

function savedUnit(connection: SqliteConnection, unit: readonly Statement[]): UnitResult {
  connection.command('SAVEPOINT unit')
  let index = 0
  let refused: Error | null = null
  try {
    for (; index < unit.length; index++) {
      const { sql, expect } = unit[index] as Statement
      const { count } = connection.query(sql)
      if (expect !== undefined && count !== expect) break
    }
  } catch (error) {
    if (isSqliteFault(error) || !connection.inTransaction) throw error
    refused = error as Error
  }
  if (index < unit.length) connection.command('ROLLBACK TO SAVEPOINT unit')
  connection.command('RELEASE SAVEPOINT unit')
  return index < unit.length ? { ok: false, index, error: refused } : { ok: true }
}
