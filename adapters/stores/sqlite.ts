// The embedded database: SQLite with one connection that writes and one that reads (`:memory:` has only one). WAL with synchronous NORMAL:
// a killed process loses nothing, a power failure at most the last commits (FULL: nothing).
import { AsyncLocalStorage } from 'node:async_hooks'
import { closeSync, mkdirSync, openSync } from 'node:fs'
import { dirname } from 'node:path'
import { storageUnavailable } from '../../core/db/storage-fault.ts'
import { systemClock } from '../../core/timing/clock.ts'
import type { AtomicResult, Database, Db, RowSchema, Sql, Statement, UnitResult } from '../../core/types/ports/db.ts'
import type { Clock } from '../../core/types/ports/ports.ts'
import { Mutex } from './mutex.ts'
import { parseRows, type Session, transaction } from './session.ts'
import { commitSync } from './sqlite/commit.ts'
import { SqliteConnection } from './sqlite/connection.ts'
import { isBusy, sqliteError } from './sqlite/faults.ts'

export interface SqliteOptions {
  /** A file, created with mode 0600 in a directory with mode 0700 when missing; or `:memory:`. */
  path: string
  /** Default NORMAL. */
  synchronous?: 'NORMAL' | 'FULL'
  /** How long a write waits for another process that holds the lock, ms; default 2000. */
  busyTimeoutMs?: number
  /** How long a transaction may hold the writer without a statement, ms; default 30,000. Then it is rolled back. */
  idleTransactionMs?: number
  clock?: Clock
}

/** SQLite blocks the event loop while it waits. After this time the driver waits asynchronously instead. */
const BLOCKING_WAIT_MS = 25
const RETRY_MS = 10
/**
 * Pages in the WAL before they are copied to the file. Pages that many commits change are copied once, so a larger number copies less. At
 * 2000 a commit with the copy takes no longer than at SQLite's 1000, and a start after a kill reads 8 MB. More saves nothing.
 */
const CHECKPOINT_PAGES = 2000
/** Further attempts after the time limit: a process that was suspended has not really waited. */
const LAST_LOOKS = 5

/** @throws GatewayError 503 `storage_unavailable` when the file cannot be opened. */
export function sqliteDatabase(options: SqliteOptions): Database {
  try {
    return new SqliteDatabase(options)
  } catch (error) {
    throw sqliteError(error)
  }
}

class SqliteDatabase implements Database {
  readonly kind = 'sqlite'
  readonly dialect = 'sqlite'
  readonly #writer: SqliteConnection
  readonly #reader: SqliteConnection
  readonly #clock: Clock
  readonly #busyMs: number
  /** When another process was found to hold the lock, and the attempts that remain after the time limit; null since the last write. */
  #locked: { at: number; looks: number } | null = null
  readonly #idleMs: number
  readonly #mutex = new Mutex()
  readonly #inside = new AsyncLocalStorage<object>()
  /** Identifies the open interactive transaction. */
  #open: object | null = null
  #closed = false

  constructor(options: SqliteOptions) {
    const { path, synchronous = 'NORMAL', busyTimeoutMs = 2000, idleTransactionMs = 30_000, clock = systemClock } = options
    this.#clock = clock
    this.#busyMs = busyTimeoutMs
    this.#idleMs = idleTransactionMs
    if (path !== ':memory:') createPrivate(path)
    this.#writer = new SqliteConnection(path, BLOCKING_WAIT_MS)
    this.#writer.pragma('foreign_keys = ON')
    if (path === ':memory:') {
      this.#reader = this.#writer
      return
    }
    // The process that creates a new file needs it exclusively for a moment.
    this.#writer.pragma(`busy_timeout = ${busyTimeoutMs}`)
    this.#writer.pragma('journal_mode = WAL')
    this.#writer.pragma(`synchronous = ${synchronous}`)
    this.#writer.pragma(`busy_timeout = ${BLOCKING_WAIT_MS}`)
    this.#writer.pragma('journal_size_limit = 67108864')
    this.#writer.pragma(`wal_autocheckpoint = ${CHECKPOINT_PAGES}`)
    this.#reader = new SqliteConnection(path, busyTimeoutMs)
    this.#reader.pragma('query_only = ON')
  }

  async all<T>(query: Sql, row?: RowSchema<T>): Promise<T[]> {
    const rows = await this.#read(query, (connection) => connection.query(query).rows)
    return parseRows(rows, row)
  }

  async get<T>(query: Sql, row?: RowSchema<T>): Promise<T | undefined> {
    const found = await this.#read(query, (connection) => connection.get(query))
    return found === undefined ? undefined : parseRows([found], row)[0]
  }

  async run(query: Sql): Promise<{ changes: number }> {
    this.#refuseInside()
    return { changes: (await this.#write(() => this.#writer.query(query))).count }
  }

  async atomic(statements: readonly { sql: Sql; expect?: number }[]): Promise<AtomicResult> {
    this.#refuseInside()
    const [result] = (await this.commit([statements])) as [UnitResult]
    if (result.ok) return result
    if (result.error !== null) throw result.error
    return { ok: false, index: result.index }
  }

  commit(units: readonly (readonly Statement[])[]): Promise<UnitResult[]> {
    return this.#write(() => commitSync(this.#writer, units))
  }

  async tx<T>(fn: (db: Db) => Promise<T>): Promise<T> {
    this.#refuseInside()
    const since = this.#clock.monotonic()
    return this.#mutex.hold(async () => {
      const token = {}
      const watch = this.#watchIdle()
      const session: Session = {
        dialect: this.dialect,
        query: async (query) => {
          try {
            return this.#writer.query(query)
          } catch (error) {
            throw sqliteError(error)
          } finally {
            watch.touch()
          }
        },
        command: async (...texts) => {
          for (const text of texts) await this.#patiently(() => this.#writer.command(text), since)
        },
      }
      try {
        return await transaction(session, 'BEGIN IMMEDIATE', (db) => {
          this.#open = token
          return Promise.race([this.#inside.run(token, () => fn(db)), watch.expired])
        })
      } finally {
        watch.stop()
        this.#open = null
        // An active one slows down every promise of the process. There is only one transaction at a time.
        this.#inside.disable()
      }
    })
  }

  async ping(): Promise<void> {
    this.#usable()
    try {
      this.#reader.query({ text: 'SELECT 1 FROM sqlite_schema LIMIT 1', params: [] })
    } catch (error) {
      throw sqliteError(error)
    }
  }

  async close(): Promise<void> {
    if (this.#closed) return
    await this.#mutex.hold(async () => {
      this.#closed = true
      if (this.#reader !== this.#writer) this.#reader.close()
      this.#writer.close()
    })
  }

  /** A plain read uses the reader, which sees committed data. With RETURNING it is a write. */
  async #read<T>(query: Sql, fn: (connection: SqliteConnection) => T): Promise<T> {
    this.#usable()
    try {
      const aside = this.#reader !== this.#writer || this.#mutex.open || this.#isInside()
      if (aside && this.#reader.isRead(query.text)) return fn(this.#reader)
    } catch (error) {
      throw sqliteError(error)
    }
    this.#refuseInside()
    return this.#write(() => fn(this.#writer))
  }

  /** Runs synchronously and at once when the writer is free. */
  #write<T>(fn: () => T): Promise<T> {
    if (this.#mutex.open) {
      try {
        this.#usable()
        return Promise.resolve(fn())
      } catch (error) {
        if (!isBusy(error)) return Promise.reject(sqliteError(error))
      }
    }
    const since = this.#clock.monotonic()
    return this.#mutex.hold(() => this.#patiently(fn, since))
  }

  /** @param since the caller's arrival: time in the queue for the same lock counts as waiting. */
  async #patiently<T>(fn: () => T, since: number): Promise<T> {
    for (;;) {
      this.#usable()
      try {
        const result = fn()
        this.#locked = null
        return result
      } catch (error) {
        if (!isBusy(error)) throw sqliteError(error)
        const now = this.#clock.monotonic()
        this.#locked ??= { at: now, looks: LAST_LOOKS }
        if (now >= Math.max(since, this.#locked.at) + this.#busyMs && this.#locked.looks-- <= 0) throw sqliteError(error)
      }
      await this.#clock.sleep(RETRY_MS)
    }
  }

  #watchIdle(): { touch(): void; stop(): void; expired: Promise<never> } {
    let touched = this.#clock.monotonic()
    let expire: (error: Error) => void = () => {}
    const expired = new Promise<never>((_, reject) => {
      expire = reject
    })
    expired.catch(() => {})
    const check = () => {
      const left = touched + this.#idleMs - this.#clock.monotonic()
      if (left > 0) timer = this.#clock.timer(left, check, true)
      else expire(new Error(`A transaction held the database for ${this.#idleMs} ms without a statement and was rolled back.`))
    }
    let timer = this.#clock.timer(this.#idleMs, check, true)
    return {
      touch: () => {
        touched = this.#clock.monotonic()
      },
      stop: () => timer.cancel(),
      expired,
    }
  }

  #isInside(): boolean {
    return this.#open !== null && this.#inside.getStore() === this.#open
  }

  /** @throws Error inside a transaction: the call would wait for its own end. */
  #refuseInside(): void {
    if (this.#isInside()) throw new Error('Inside db.tx() write through the db that it hands over, not through the outer one.')
  }

  #usable(): void {
    if (this.#closed) throw new Error('The database is closed.')
  }
}

function createPrivate(path: string): void {
  try {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
    closeSync(openSync(path, 'a', 0o600))
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    throw storageUnavailable(`the file cannot be made (${code}); check its directory and permissions.`, error)
  }
}
