// One SQLite connection with its prepared statements by text.
import type { Sql } from '../../../core/types/ports/db.ts'
import type { Rows } from '../session.ts'
import type { SqliteHandle, SqliteStatement } from './handle.ts'
import { openSqlite } from './open.ts'

/** Up to twice as many stay prepared. */
const KEPT_STATEMENTS = 250

export class SqliteConnection {
  readonly #db: SqliteHandle
  #recent = new Map<string, SqliteStatement>()
  #older = new Map<string, SqliteStatement>()

  /** @param waitMs how long SQLite itself waits (blocking) for another process. */
  constructor(path: string, waitMs: number) {
    this.#db = openSqlite(path, waitMs)
  }

  get inTransaction(): boolean {
    return this.#db.inTransaction
  }

  pragma(text: string): void {
    const statement = this.#db.prepare(`PRAGMA ${text}`)
    if (statement.reader) statement.get()
    else statement.run()
  }

  isRead(text: string): boolean {
    const statement = this.#prepare(text)
    return statement.readonly && statement.reader
  }

  query(query: Sql): Rows {
    const statement = this.#prepared(query)
    if (statement === null) return { rows: [], count: 0 }
    if (!statement.reader) return { rows: [], count: statement.run(...query.params).changes }
    const rows = statement.all(...query.params) as Record<string, unknown>[]
    return { rows, count: rows.length }
  }

  get(query: Sql): unknown {
    return this.#prepare(query.text).get(...query.params)
  }

  command(text: string): void {
    this.#prepare(text).run()
  }

  close(): void {
    this.#recent.clear()
    this.#older.clear()
    this.#db.close()
  }

  /** Returns null when the text had several statements; they have run. */
  #prepared(query: Sql): SqliteStatement | null {
    try {
      return this.#prepare(query.text)
    } catch (error) {
      if (!(error instanceof RangeError) || query.params.length > 0) throw error
      this.#db.exec(query.text)
      return null
    }
  }

  #prepare(text: string): SqliteStatement {
    const kept = this.#recent.get(text)
    if (kept !== undefined) return kept
    const statement = this.#older.get(text) ?? this.#db.prepare(text)
    // A statement that was not used while so many others were is forgotten. Moving one at each use would cost as much as a short statement.
    if (this.#recent.size >= KEPT_STATEMENTS) {
      this.#older = this.#recent
      this.#recent = new Map()
    }
    this.#recent.set(text, statement)
    return statement
  }
}
