// The database port and what stands on it: statements, units of a group commit, migrations, views.

/** Text with `?` placeholders, made by the `sql` tag (core/db/sql.ts). */
export interface Sql {
  text: string
  params: readonly unknown[]
}

export interface Statement {
  sql: Sql
  /** Rows changed, or returned by a SELECT. Another count rolls the unit's savepoint back and throws `refuse()`. */
  expect?: number
  refuse?: () => Error
  /**
   * Names that this unit locks. A commit takes all locks in one order before its first statement, so that replicas whose units share rows
   * never deadlock.
   */
  lock?: string
}

/** A request's writes at admit, and again at settle: one savepoint each in a group commit, idempotent by request id. */
export interface Unit {
  add(...statements: Statement[]): void
  afterCommit(fn: () => void): void
  /**
   * Called at admit when the database does not answer. Return to let the request go on without the writes; throw to refuse it. Without a
   * handler the request is refused with 503 `storage_unavailable`.
   */
  unavailable(fn: (error: Error) => void): void
}

export interface RowSchema<T> {
  parse(value: unknown): T
}

/**
 * Integers come back as numbers (money and epoch ms stay below 2^53), booleans as 0 and 1, absent rows as undefined.
 * Rejects with GatewayError 503 `storage_unavailable` when the engine cannot be used, else with its own error.
 */
export interface Db {
  readonly dialect: 'sqlite' | 'postgresql'
  all<T = Record<string, unknown>>(query: Sql, row?: RowSchema<T>): Promise<T[]>
  get<T = Record<string, unknown>>(query: Sql, row?: RowSchema<T>): Promise<T | undefined>
  /** `changes`: rows changed, or returned. Text without parameters may hold several statements; `changes` is 0 then. */
  run(query: Sql): Promise<{ changes: number }>
  /** All or nothing. `index`: the first statement that changed another number of rows than it expected; rejects with an SQL error. */
  atomic(statements: readonly { sql: Sql; expect?: number }[]): Promise<AtomicResult>
  /**
   * Interactive transaction, as if no other ran beside it; only the given `db` is inside it, and `tx` on that is a savepoint.
   * Rolled back when `fn` rejects or a statement of it failed. `fn` runs again when PostgreSQL found a conflict: it does nothing
   * but through its `db`. On SQLite all writers wait for it.
   */
  tx<T>(fn: (db: Db) => Promise<T>): Promise<T>
}

export type AtomicResult = { ok: true } | { ok: false; index: number }

/** Result of one unit in a group commit. When `ok` is false, only this unit was rolled back. */
export type UnitResult = { ok: true } | { ok: false; index: number; error: Error | null }

/** A store driver: the Db verbs on one engine. */
export interface Database extends Db {
  /** For logs and /healthz; never an address. */
  readonly kind: string
  /**
   * One transaction, one savepoint a unit. SQLite runs it synchronously before it returns.
   * Rejects when the transaction as a whole failed: then no unit is in.
   */
  commit(units: readonly (readonly Statement[])[]): Promise<UnitResult[]>
  /** One round trip; rejects while the engine is unreachable. */
  ping(): Promise<void>
  close(): Promise<void>
}

/** Forward only, once, in one transaction each; tokens `{{id}}` and `{{int}}` are the engine's own types. */
export interface Migration {
  id: string
  up: string | { sqlite: string; postgresql: string }
}

/** Rows as a typed value in memory: read without a query, followed across processes. */
export interface View<T> {
  /** As of the last load. */
  readonly current: T
  /** Runs `change` in a transaction that also tells other processes; this process has reloaded when it resolves. */
  write<R>(change: (db: Db) => Promise<R>): Promise<R>
  /** Looks for writes of other processes now instead of at the next poll. Never rejects: without a database nothing changes. */
  refresh(): Promise<void>
  /** Called after each reload that followed a write, here or elsewhere. */
  watch(fn: (value: T) => void): void
}

/** Where units wait on disk while the database is away. Their statements must bear being applied twice. */
export interface Spool {
  /** Resolves when the units would survive a crash. */
  append(units: readonly SpooledUnit[]): Promise<void>
  /** Hands all units over in order and forgets what `apply` resolved for; returns how many. */
  drain(apply: (units: readonly SpooledUnit[]) => Promise<void>): Promise<number>
}

export type SpooledUnit = readonly Pick<Statement, 'sql' | 'expect'>[]
