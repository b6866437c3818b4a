// A group commit on SQLite: one synchronous transaction, so that nothing can come between its statements.
import type { Statement, UnitResult } from '../../../core/types/db.ts'
import type { SqliteConnection } from './connection.ts'
import { isSqliteFault } from './faults.ts'

/**
 * Units that cannot refuse go without a savepoint: they fail only by mistake, and then all is done again with one for each.
 */
export function commitSync(connection: SqliteConnection, units: readonly (readonly Statement[])[]): UnitResult[] {
  try {
    return within(connection, () =>
      units.map((unit) => (mayRefuse(unit) ? savedUnit(connection, unit) : plainUnit(connection, unit))),
    )
  } catch (error) {
    if (!(error instanceof Mistake)) throw error
    return within(connection, () => units.map((unit) => savedUnit(connection, unit)))
  }
}

class Mistake extends Error {}

function within(connection: SqliteConnection, run: () => UnitResult[]): UnitResult[] {
  connection.command('BEGIN IMMEDIATE')
  try {
    const results = run()
    connection.command('COMMIT')
    return results
  } catch (error) {
    // SQLite rolls back by itself on some faults.
    if (connection.inTransaction) connection.command('ROLLBACK')
    throw error
  }
}

function mayRefuse(unit: readonly Statement[]): boolean {
  for (const { expect } of unit) if (expect !== undefined) return true
  return false
}

function plainUnit(connection: SqliteConnection, unit: readonly Statement[]): UnitResult {
  try {
    for (const { sql } of unit) connection.query(sql)
    return DONE
  } catch (error) {
    throw isSqliteFault(error) || !connection.inTransaction ? error : new Mistake('a unit failed', { cause: error })
  }
}

const DONE: UnitResult = { ok: true }

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
  return index < unit.length ? { ok: false, index, error: refused } : DONE
}
