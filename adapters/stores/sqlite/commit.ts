// Runs a group commit on SQLite as one synchronous transaction, so that no other statement can come in between.
import type { Statement, UnitResult } from '../../../core/types/ports/db.ts'
import type { SqliteConnection } from './connection.ts'
import { isSqliteFault } from './faults.ts'

/** Units that cannot refuse run without a savepoint. They fail only by mistake; then everything runs again with a savepoint for each. */
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
    // SQLite itself rolls back after some faults.
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
