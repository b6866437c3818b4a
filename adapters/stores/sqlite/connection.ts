// One better-sqlite3 connection with its prepared statements by text.
import Sqlite from 'better-sqlite3'
import type { Sql } from '../../../core/types/db.ts'
import type { Rows } from '../session.ts'

const KEPT_STATEMENTS = 500

// Since Node 24.19 the collection of a wrapped C++ object asks for the environment of the running context. During a garbage collection
// there is none, and the process aborts (`RemoveEnvironmentCleanupHook`). Statements and databases of better-sqlite3 12 are such objects
// when it was compiled on that Node. So they are never released there: some hundred statements, and the shells of closed databases in a
// process that opens many. This is the only state of a module, because it has to outlive every gateway.
const FIRST_MAJOR = 24

const kept: object[] | null = Number.parseInt(process.versions.node, 10) >= FIRST_MAJOR ? [] : null

/** Keeps every object that better-sqlite3 makes. */
function pinForProcess<T extends object>(wrapped: T): T {
  kept?.push(wrapped)
  return wrapped
}

export class SqliteConnection {
  readonly #db: Sqlite.Database
  readonly #statements = new Map<string, Sqlite.Statement>()

  /** @param waitMs how long SQLite itself waits (blocking) for another process. */
  constructor(path: string, waitMs: number) {
    this.#db = pinForProcess(new Sqlite(path, { timeout: waitMs }))
  }

  get inTransaction(): boolean {
    return this.#db.inTransaction
  }

  pragma(text: string): unknown {
    const statement = pinForProcess(this.#db.prepare(`PRAGMA ${text}`))
    return statement.reader ? statement.pluck().get() : statement.run()
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
  #prepared(query: Sql): Sqlite.Statement | null {
    try {
      return this.#prepare(query.text)
    } catch (error) {
      if (!(error instanceof RangeError) || query.params.length > 0) throw error
      this.#db.exec(query.text)
      return null
    }
  }

  #prepare(text: string): Sqlite.Statement {
    let statement = this.#statements.get(text)
    if (statement === undefined) {
      statement = pinForProcess(this.#db.prepare(text))
      if (this.#statements.size >= KEPT_STATEMENTS) this.#statements.delete(this.#statements.keys().next().value as string)
    } else {
      this.#statements.delete(text)
    }
    this.#statements.set(text, statement)
    return statement
  }
}
