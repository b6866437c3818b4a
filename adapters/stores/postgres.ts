// PostgreSQL through a pg pool. Interactive transactions are SERIALIZABLE and retried after a conflict, so that reading and then writing
// is as safe as on SQLite. Group commits are READ COMMITTED with conditional updates.
import type pg from 'pg'
import { sql } from '../../core/db/sql.ts'
import { systemClock } from '../../core/timing/clock.ts'
import type { AtomicResult, Database, Db, RowSchema, Sql, Statement, UnitResult } from '../../core/types/ports/db.ts'
import type { Clock } from '../../core/types/ports/ports.ts'
import {
  isConflict,
  isConnectionLost,
  isPostgresFault,
  isStalePlan,
  outrun,
  postgresError,
  unreachable,
} from './postgres/faults.ts'
import { StatementNames } from './postgres/statement-names.ts'
import { PostgresWall } from './postgres/tenant-wall.ts'
import { commitUnits, inTransaction, parseRows, type Rows, type Session, transaction } from './session.ts'

export interface PostgresOptions {
  /** `?pooler=transaction`: a transaction pooler is used, so there are no named statements. */
  url: string
  /** Maximum number of connections; default 10. */
  max?: number
  /** Default 30,000 ms. */
  statementTimeoutMs?: number
  /** Default 5000 ms. */
  connectTimeoutMs?: number
  clock?: Clock
}

const SERIALIZABLE = 'BEGIN ISOLATION LEVEL SERIALIZABLE'
const UNNAMED = new StatementNames(false)
const CONFLICT_ATTEMPTS = 30
const CONFLICT_WAIT_MS = 4

/** Opens no connection yet. @throws Error when the package `pg` is missing or the URL is invalid; the message never contains the URL. */
export async function postgresDatabase(options: PostgresOptions): Promise<Database> {
  const { default: library } = await import('pg').catch((cause: unknown) => {
    throw new Error('GATEWAY_DATABASE_URL names PostgreSQL, which needs the package `pg`: npm install pg', { cause })
  })
  return new PostgresDatabase(library, options)
}

class PostgresDatabase implements Database {
  readonly kind = 'postgresql'
  readonly dialect = 'postgresql'
  readonly #pool: pg.Pool
  readonly #clock: Clock
  readonly #names: StatementNames
  readonly wall: PostgresWall
  #closing: Promise<void> | null = null

  constructor(library: typeof pg, options: PostgresOptions) {
    const { max = 10, statementTimeoutMs = 30_000, connectTimeoutMs = 5000, clock = systemClock } = options
    const { connectionString, pooled } = address(options.url)
    this.#clock = clock
    this.#names = new StatementNames(!pooled)
    this.wall = new PostgresWall((fn) =>
      this.#repeatedly(() => this.#withClient((session) => inTransaction(session, 'BEGIN', fn))),
    )
    this.#pool = new library.Pool({
      connectionString,
      max,
      connectionTimeoutMillis: connectTimeoutMs,
      // A transaction pooler refuses unknown startup parameters.
      ...(pooled ? {} : { statement_timeout: statementTimeoutMs, idle_in_transaction_session_timeout: statementTimeoutMs }),
      // For a server that stopped answering.
      query_timeout: statementTimeoutMs + 5000,
      keepAlive: true,
      types: { getTypeParser: (oid: number, format?: 'text') => TYPES[oid] ?? library.types.getTypeParser(oid, format) },
    } as pg.PoolConfig)
    // Without a listener a lost connection, idle or in use, would crash the process. The pool replaces it.
    this.#pool.on('error', () => {})
    this.#pool.on('connect', (client) => void client.on('error', () => {}))
  }

  async all<T>(query: Sql, row?: RowSchema<T>): Promise<T[]> {
    return parseRows((await this.#single(query)).rows, row)
  }

  async get<T>(query: Sql, row?: RowSchema<T>): Promise<T | undefined> {
    return parseRows((await this.#single(query)).rows.slice(0, 1), row)[0]
  }

  async run(query: Sql): Promise<{ changes: number }> {
    return { changes: (await this.#single(query)).count }
  }

  async atomic(statements: readonly { sql: Sql; expect?: number }[]): Promise<AtomicResult> {
    const [result] = (await this.#commitAll([statements], this.wall.begin('BEGIN'))) as [UnitResult]
    if (result.ok) return result
    if (result.error !== null) throw result.error
    return { ok: false, index: result.index }
  }

  commit(units: readonly (readonly Statement[])[]): Promise<UnitResult[]> {
    return this.#commitAll(units, null)
  }

  tx<T>(fn: (db: Db) => Promise<T>): Promise<T> {
    const restricted = this.wall.begin(SERIALIZABLE)
    return this.#repeatedly(() =>
      this.#withClient((session) => transaction(session, restricted ?? SERIALIZABLE, fn), restricted !== null),
    )
  }

  async ping(): Promise<void> {
    await this.#single({ text: 'SELECT 1', params: [] })
  }

  close(): Promise<void> {
    this.#closing ??= this.#pool.end()
    return this.#closing
  }

  /** @param restricted begins a transaction of one organization. */
  async #commitAll(units: readonly (readonly Statement[])[], restricted: string | null): Promise<UnitResult[]> {
    try {
      return await this.#commit(units, restricted)
    } catch (error) {
      // Two groups changed the same rows in different orders. A unit keeps its own order.
      if (!isConflict(error)) throw error
      const results: UnitResult[] = []
      for (const unit of units) results.push(...(await this.#repeatedly(() => this.#commit([unit], restricted))))
      return results
    }
  }

  #commit(units: readonly (readonly Statement[])[], restricted: string | null): Promise<UnitResult[]> {
    const rules = restricted === null ? COMMIT : { ...COMMIT, begin: restricted }
    return this.#withClient((session) => commitUnits(session, units, rules), restricted !== null)
  }

  async #repeatedly<T>(fn: () => Promise<T>): Promise<T> {
    for (let attempt = 1; ; attempt++) {
      try {
        return await fn()
      } catch (error) {
        if (!isConflict(error)) throw error
        if (attempt === CONFLICT_ATTEMPTS) throw outrun(error)
      }
      await this.#clock.sleep(CONFLICT_WAIT_MS * attempt)
    }
  }

  #single(query: Sql): Promise<Rows> {
    const restricted = this.wall.begin('BEGIN')
    if (restricted === null) return this.#repeatedly(() => this.#withClient((session) => session.query(query)))
    const alone = (session: Session) => inTransaction(session, restricted, () => session.query(query))
    return this.#repeatedly(() => this.#withClient(alone, true))
  }

  /** @param restricted gives statements no names: a prepared statement would be planned again at each change of the role. */
  async #withClient<T>(fn: (session: Session) => Promise<T>, restricted = false): Promise<T> {
    let client: pg.PoolClient
    try {
      client = await this.#pool.connect()
    } catch (error) {
      throw unreachable(error)
    }
    const session = new ClientSession(client, restricted ? UNNAMED : this.#names)
    try {
      return await fn(session)
    } catch (error) {
      throw session.failure === null ? error : postgresError(error)
    } finally {
      client.release(session.lost)
    }
  }
}

/** Locks until the transaction ends, in the order of the list: a set-returning function produces its rows one by one. */
function advisoryLocks(names: readonly string[]): Sql | null {
  if (names.length === 0) return null
  return sql`SELECT pg_advisory_xact_lock(hashtextextended(name, 0)) FROM json_array_elements_text(${JSON.stringify(names)}) AS name`
}

const COMMIT = { begin: 'BEGIN', fatal: isPostgresFault, lost: isConnectionLost, locking: advisoryLocks }

class ClientSession implements Session {
  readonly dialect = 'postgresql'
  readonly #client: pg.PoolClient
  readonly #names: StatementNames
  /** The last error of the server or the connection. */
  failure: unknown = null
  lost = false

  constructor(client: pg.PoolClient, names: StatementNames) {
    this.#client = client
    this.#names = names
  }

  async query(query: Sql): Promise<Rows> {
    const { rows, rowCount } = await this.#send(this.#names.config(query))
    return { rows, count: rowCount ?? 0 }
  }

  async command(...texts: string[]): Promise<void> {
    const { command } = await this.#send({ text: texts.join('; ') })
    // COMMIT answers ROLLBACK when a statement has failed.
    if (command === 'ROLLBACK' && texts.at(-1) === 'COMMIT') throw new Error('PostgreSQL rolled the transaction back.')
  }

  async #send(config: pg.QueryConfig): Promise<pg.QueryResult> {
    try {
      const result: pg.QueryResult | pg.QueryResult[] = await this.#client.query(config)
      // A text with several statements returns a list.
      return Array.isArray(result) ? { ...(result.at(-1) as pg.QueryResult), rows: [], rowCount: 0 } : result
    } catch (error) {
      this.failure = error
      this.lost ||= isConnectionLost(error)
      if (isStalePlan(error)) this.#names.renew()
      throw error
    }
  }
}

/** bool as 0 or 1, int8 and numeric as numbers: the same results as SQLite. */
const TYPES: Readonly<Record<number, (text: string) => unknown>> = {
  16: (text) => (text === 't' ? 1 : 0),
  20: Number,
  1700: Number,
}

function address(url: string): { connectionString: string; pooled: boolean } {
  let parsed: URL
  try {
    parsed = new URL(url)
  } catch {
    throw new Error('GATEWAY_DATABASE_URL cannot be read: percent-encode special characters in user and password.')
  }
  const pooler = parsed.searchParams.get('pooler')
  if (pooler !== null && pooler !== 'transaction')
    throw new Error('GATEWAY_DATABASE_URL: `pooler` may be `transaction`, or be left out.')
  if (pooler === null) return { connectionString: url, pooled: false }
  parsed.searchParams.delete('pooler')
  return { connectionString: parsed.toString(), pooled: true }
}
