// The members of a SQLite library that the store uses. They have the names of better-sqlite3, which is used as it is.

export interface SqliteStatement {
  /** Returns rows: a SELECT, a PRAGMA, a RETURNING. */
  readonly reader: boolean
  /** Certainly writes nothing. */
  readonly readonly: boolean
  all(...params: readonly unknown[]): unknown[]
  /** Returns the first row; undefined when there is none. */
  get(...params: readonly unknown[]): unknown
  run(...params: readonly unknown[]): { changes: number }
}

export interface SqliteHandle {
  readonly inTransaction: boolean
  /** @throws RangeError for a text with several statements. */
  prepare(text: string): SqliteStatement
  /** Runs every statement of the text. */
  exec(text: string): unknown
  close(): unknown
}

/** Opens a file or `:memory:`. `waitMs` is the time that SQLite itself waits (blocking) for another process. */
export type OpenSqlite = (path: string, waitMs: number) => SqliteHandle
