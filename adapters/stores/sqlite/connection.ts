// One SQLite connection with its prepared statements by text.
import type { Sql } from '../../../core/types/db.ts'
import type { Rows } from '../session.ts'
import type { SqliteHandle, SqliteStatement } from './handle.ts'
import { openSqlite } from './open.ts'

const KEPT_STATEMENTS = 500

export class SqliteConnection {
  readonly #db: SqliteHandle
  readonly #statements = new Map<string, SqliteStatement>()

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
    this.#statements.clear()
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
    let statement = this.#statements.get(text)
    if (statement === undefined) {
      statement = this.#db.prepare(text)
      if (this.#statements.size >= KEPT_STATEMENTS) this.#statements.delete(this.#statements.keys().next().value as string)
    } else {
      this.#statements.delete(text)
    }
    this.#statements.set(text, statement)
    return statement
  }
}
