// Types of the database port and its users: statements, units of a group commit, migrations, views.

/** SQL text with `?` placeholders, made by the `sql` tag (core/db/sql.ts). */
export interface Sql {
  text: string
  params: readonly unknown[]
}

export interface Statement {
  sql: Sql
  /**
   * Expected number of rows that the statement changes or returns. Any other number rolls back the unit's savepoint and throws
   * `refuse()`, which may look something up first.
   */
  expect?: number
  refuse?: () => Error | Promise<Error>
  /**
   * Names that this unit locks. A commit takes all locks in one order before its first statement, so that replicas whose units share rows
   * never deadlock.
   */
  lock?: string
}

/** A request's writes at admit, and again at settle. Each is one savepoint in a group commit and idempotent by request id. */
export interface Unit {
  add(...statements: Statement[]): void
  afterCommit(fn: () => void): void
  /**
   * Called at admit when the database does not answer. Return to let the request continue without the writes; throw to refuse it. Without
   * a handler the request is refused with 503 `storage_unavailable`.
   */
  unavailable(fn: (error: Error) => void): void
}

export interface RowSchema<T> {
  parse(value: unknown): T
}

/**
 * The verbs of a database. Integers are returned as numbers (money and epoch ms stay below 2^53), booleans as 0 and 1, absent rows as
 * undefined. Rejects with GatewayError 503 `storage_unavailable` when the engine cannot be used, otherwise with the engine's own error.
 */
export interface Db {
  readonly dialect: 'sqlite' | 'postgresql'
  all<T = Record<string, unknown>>(query: Sql, row?: RowSchema<T>): Promise<T[]>
  get<T = Record<string, unknown>>(query: Sql, row?: RowSchema<T>): Promise<T | undefined>
  /** `changes`: rows changed or returned. Text without parameters may hold several statements; then `changes` is 0. */
  run(query: Sql): Promise<{ changes: number }>
  /** Runs all statements or none. `index`: the first statement whose row count differs from `expect`. Rejects with an SQL error. */
  atomic(statements: readonly { sql: Sql; expect?: number }[]): Promise<AtomicResult>
  /**
   * Runs an interactive, serializable transaction. Only the given `db` is inside it; `tx` on that one is a savepoint. It is rolled back
   * when `fn` rejects or one of its statements failed. PostgreSQL conflicts run `fn` again, so `fn` must have no effect except through
   * its `db`. On SQLite all other writers wait.
   */
  tx<T>(fn: (db: Db) => Promise<T>): Promise<T>
}

export type AtomicResult = { ok: true } | { ok: false; index: number }

/** Result of one unit in a group commit. When `ok` is false, only this unit was rolled back. */
export type UnitResult = { ok: true } | { ok: false; index: number; error: Error | null }

/** A store driver: the Db verbs on one engine. */
export interface Database extends Db {
  /** The name for logs and /healthz; never an address. */
  readonly kind: string
  /**
   * Runs one transaction with one savepoint per unit. SQLite runs it synchronously before it returns. Rejects when the transaction as a
   * whole failed: then no unit is committed.
   */
  commit(units: readonly (readonly Statement[])[]): Promise<UnitResult[]>
  /** Makes one round trip. Rejects while the engine is unreachable. */
  ping(): Promise<void>
  close(): Promise<void>
}

/**
 * A schema change. It runs forward only, once, in a transaction of its own. The tokens `{{id}}` and `{{int}}` stand for the engine's own
 * types.
 */
export interface Migration {
  id: string
  up: string | { sqlite: string; postgresql: string }
}

/** Rows as a typed value in memory: read without a query and updated across processes. */
export interface View<T> {
  /** The value of the last load. */
  readonly current: T
  /** Runs `change` in a transaction that also notifies other processes. When it resolves, this process has reloaded. */
  write<R>(change: (db: Db) => Promise<R>): Promise<R>
  /** Checks for writes of other processes now instead of at the next poll. Never rejects: without a database nothing changes. */
  refresh(): Promise<void>
  /** Calls `fn` after each reload that followed a write, in this process or another one. */
  watch(fn: (value: T) => void): void
}

/** Stores units on disk during a database outage. A unit's statements must be safe to apply twice. */
export interface Spool {
  /** Resolves when the units would survive a crash. */
  append(units: readonly SpooledUnit[]): Promise<void>
  /** Passes all units on in order and removes those that `apply` resolved for. Returns how many. */
  drain(apply: (units: readonly SpooledUnit[]) => Promise<void>): Promise<number>
}

export type SpooledUnit = readonly Pick<Statement, 'sql' | 'expect'>[]
