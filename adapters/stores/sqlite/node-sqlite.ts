// Opens SQLite with node:sqlite, on Deno and on Node without better-sqlite3. Errors get the result code's name, as in better-sqlite3.
import { refuseSeveral, writesNothing } from './built-in.ts'
import type { SqliteHandle, SqliteStatement } from './handle.ts'

interface NodeStatement {
  readonly sourceSQL: string
  all(...params: readonly unknown[]): unknown[]
  get(...params: readonly unknown[]): unknown
  run(...params: readonly unknown[]): { changes: number | bigint }
  columns(): readonly unknown[]
}

interface NodeDatabase {
  readonly isTransaction: boolean
  prepare(text: string): NodeStatement
  exec(text: string): void
  close(): void
}

export interface NodeSqlite {
  DatabaseSync: new (path: string) => NodeDatabase
}

export function openNodeSqlite({ DatabaseSync }: NodeSqlite, path: string, waitMs: number): SqliteHandle {
  const db = named(() => new DatabaseSync(path))
  named(() => db.exec(`PRAGMA busy_timeout = ${waitMs}`))
  return {
    get inTransaction() {
      return db.isTransaction
    },
    prepare: (text) =>
      statementOf(
        text,
        named(() => db.prepare(text)),
      ),
    exec: (text) => named(() => db.exec(text)),
    close: () => db.close(),
  }
}

function statementOf(text: string, statement: NodeStatement): SqliteStatement {
  refuseSeveral(text, statement.sourceSQL)
  return {
    reader: statement.columns().length > 0,
    readonly: writesNothing(text),
    all: (...params) => named(() => statement.all(...params).map(plain)),
    get: (...params) => named(() => plain(statement.get(...params))),
    run: (...params) => named(() => ({ changes: Number(statement.run(...params).changes) })),
  }
}

/** Rows of node:sqlite have no prototype. */
function plain(row: unknown): unknown {
  return row === undefined ? undefined : { ...(row as object) }
}

/** Result codes that the store tells apart; the low byte of an extended code is its primary one. */
const NAMES: Readonly<Record<number, string>> = {
  5: 'SQLITE_BUSY',
  6: 'SQLITE_LOCKED',
  7: 'SQLITE_NOMEM',
  8: 'SQLITE_READONLY',
  10: 'SQLITE_IOERR',
  11: 'SQLITE_CORRUPT',
  13: 'SQLITE_FULL',
  14: 'SQLITE_CANTOPEN',
  15: 'SQLITE_PROTOCOL',
  19: 'SQLITE_CONSTRAINT',
  26: 'SQLITE_NOTADB',
  1555: 'SQLITE_CONSTRAINT_PRIMARYKEY',
  2067: 'SQLITE_CONSTRAINT_UNIQUE',
}

function named<T>(act: () => T): T {
  try {
    return act()
  } catch (error) {
    const code = error instanceof Error ? (error as { errcode?: unknown }).errcode : undefined
    if (typeof code === 'number') Object.assign(error as Error, { code: NAMES[code] ?? NAMES[code & 0xff] ?? 'SQLITE_ERROR' })
    throw error
  }
}
