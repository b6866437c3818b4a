// Uses any db0 connector as a database: one connection, one statement or transaction at a time.
import { AsyncLocalStorage } from 'node:async_hooks'
import type { Connector } from 'db0'
import type { AtomicResult, Database, Db, RowSchema, Sql, Statement, UnitResult } from '../../core/types/ports/db.ts'
import { Mutex } from './mutex.ts'
import { isPostgresFault } from './postgres/faults.ts'
import { commitUnits, parseRows, type Rows, type Session, transaction } from './session.ts'
import { isSqliteFault } from './sqlite/faults.ts'

/** The plugins' SQL supports these two dialects only, so a MySQL connector is refused. */
export function db0Database(connector: Connector, dialect: Db['dialect']): Database {
  return new Db0Database(connector, dialect)
}

class Db0Database implements Database {
  readonly kind: string
  readonly dialect: Db['dialect']
  readonly #connector: Connector
  readonly #session: Session
  readonly #begin: string
  readonly #mutex = new Mutex()
  readonly #inside = new AsyncLocalStorage<object>()
  #open: object | null = null

  constructor(connector: Connector, dialect: Db['dialect']) {
    this.kind = connector.name
    this.dialect = dialect
    this.#connector = connector
    this.#session = connectorSession(connector, dialect)
    this.#begin = dialect === 'sqlite' ? 'BEGIN IMMEDIATE' : 'BEGIN'
  }

  async all<T>(query: Sql, row?: RowSchema<T>): Promise<T[]> {
    return parseRows((await this.#query(query)).rows, row)
  }

  async get<T>(query: Sql, row?: RowSchema<T>): Promise<T | undefined> {
    return parseRows((await this.#query(query)).rows.slice(0, 1), row)[0]
  }

  async run(query: Sql): Promise<{ changes: number }> {
    return { changes: (await this.#query(query)).count }
  }

  async atomic(statements: readonly { sql: Sql; expect?: number }[]): Promise<AtomicResult> {
    this.#refuseInside()
    const [result] = (await this.commit([statements])) as [UnitResult]
    if (result.ok) return result
    if (result.error !== null) throw result.error
    return { ok: false, index: result.index }
  }

  commit(units: readonly (readonly Statement[])[]): Promise<UnitResult[]> {
    const fatal = this.dialect === 'sqlite' ? isSqliteFault : isPostgresFault
    return this.#mutex.hold(() => commitUnits(this.#session, units, { begin: this.#begin, fatal }))
  }

  async tx<T>(fn: (db: Db) => Promise<T>): Promise<T> {
    this.#refuseInside()
    return this.#mutex.hold(async () => {
      const token = {}
      try {
        return await transaction(this.#session, this.#begin, (db) => {
          this.#open = token
          return this.#inside.run(token, () => fn(db))
        })
      } finally {
        this.#open = null
        // An active one slows down every promise of the process. There is only one transaction at a time.
        this.#inside.disable()
      }
    })
  }

  async ping(): Promise<void> {
    await this.#query({ text: 'SELECT 1', params: [] })
  }

  async close(): Promise<void> {
    await this.#mutex.hold(async () => await this.#connector.dispose?.())
  }

  async #query(query: Sql): Promise<Rows> {
    this.#refuseInside()
    return this.#mutex.hold(() => this.#session.query(query))
  }

  /** @throws Error inside a transaction: the call would wait for its own end. */
  #refuseInside(): void {
    if (this.#open !== null && this.#inside.getStore() === this.#open)
      throw new Error('Inside db.tx() use the db that it hands over, not the outer one.')
  }
}

function connectorSession(connector: Connector, dialect: Db['dialect']): Session {
  return {
    dialect,
    async query({ text, params }) {
      const values = params as string[]
      const reads = /^\s*(select|with|pragma|values)\b|\breturning\b/i.test(text)
      if (!reads && params.length === 0) return { rows: [], count: await script(connector, text) }
      const statement = connector.prepare(text)
      if (dialect === 'sqlite' && !reads) return { rows: [], count: changed(await statement.run(...values)) }
      // SQLite drivers return rows only from all(); the others return rows and count from run().
      const result: unknown = dialect === 'sqlite' ? await statement.all(...values) : await statement.run(...values)
      const found = (Array.isArray(result) ? result : ((result as { rows?: unknown[] }).rows ?? [])) as Record<string, unknown>[]
      return { rows: found.map(plain), count: found.length > 0 ? found.length : changed(Array.isArray(result) ? {} : result) }
    },
    async command(...texts) {
      for (const text of texts) await connector.exec(text)
    },
  }
}

/** Runs text without parameters: one statement or several. */
async function script(connector: Connector, text: string): Promise<number> {
  const instance = (await connector.getInstance()) as { exec?: (text: string) => Promise<unknown> }
  // PGlite's query() accepts one statement only.
  if (connector.name === 'pglite' && instance.exec !== undefined) return changed((await instance.exec(text)) as unknown)
  return changed(await connector.exec(text))
}

/** Each driver has its own name for the count. */
function changed(result: unknown): number {
  if (Array.isArray(result)) return result.length === 1 ? changed(result[0]) : 0
  const { changes, rowCount, affectedRows, rowsAffected } = (result ?? {}) as Record<string, number | undefined>
  return Number(changes ?? affectedRows ?? rowsAffected ?? rowCount ?? 0)
}

function plain(row: Record<string, unknown>): Record<string, unknown> {
  for (const [name, value] of Object.entries(row)) {
    if (typeof value === 'bigint') row[name] = Number(value)
    else if (typeof value === 'boolean') row[name] = value ? 1 : 0
  }
  return row
}
