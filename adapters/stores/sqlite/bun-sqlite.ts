// Opens SQLite with bun:sqlite. Its errors have the names of better-sqlite3 already.
import { refuseSeveral, writesNothing } from './built-in.ts'
import type { SqliteHandle, SqliteStatement } from './handle.ts'

interface BunStatement {
  readonly columnNames: readonly string[]
  all(...params: readonly unknown[]): unknown[]
  /** null when there is no row. */
  get(...params: readonly unknown[]): unknown
  run(...params: readonly unknown[]): { changes: number }
  /** The text of the compiled statement, with its parameters filled in. */
  toString(): string
}

interface BunDatabase {
  readonly inTransaction: boolean
  prepare(text: string): BunStatement
  exec(text: string): unknown
  close(): void
}

export interface BunSqlite {
  Database: new (path: string) => BunDatabase
}

export function openBunSqlite({ Database }: BunSqlite, path: string, waitMs: number): SqliteHandle {
  const db = new Database(path)
  db.exec(`PRAGMA busy_timeout = ${waitMs}`)
  return {
    get inTransaction() {
      return db.inTransaction
    },
    prepare: (text) => statementOf(text, db.prepare(text)),
    exec: (text) => db.exec(text),
    close: () => db.close(),
  }
}

function statementOf(text: string, statement: BunStatement): SqliteStatement {
  // Parameters that are filled in change the length. A text with parameters is written as one statement anyway.
  const compiled = statement.toString()
  if (text.startsWith(compiled)) refuseSeveral(text, compiled)
  return {
    reader: statement.columnNames.length > 0,
    readonly: writesNothing(text),
    all: (...params) => statement.all(...params),
    get: (...params) => statement.get(...params) ?? undefined,
    run: (...params) => statement.run(...params),
  }
}
