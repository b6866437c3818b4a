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
  /** Writes the statement together with others of its commit. For statements without `expect`, in units that have no other ones. */
  readonly join?: Join
}

/**
 * Writes statements of many units with fewer ones. `sql` of each does the same alone: the spool uses it, and a commit whose joined
 * statements failed. It may be a getter, which then runs only when it is needed.
 */
export interface Join {
  /** @param statements those of one commit, in order. */
  joined(statements: readonly Statement[]): Joined
}

export interface Joined {
  readonly statements: readonly { sql: Sql }[]
  /** Called after they are committed. */
  done?(): void
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
  /** Hides the rows of other organizations. Absent on engines that cannot do it. */
  readonly wall?: TenantWall
}

/**
 * A second wall between organizations, behind the conditions of the statements: the engine itself shows and changes rows of one
 * organization only.
 */
export interface TenantWall {
  /** null before the first build(). */
  readonly state: WallState | null
  /** Adds the missing policies of these plugins' tables. It may run again at any time. Rejects when the engine is unreachable. */
  build(tables: WallTables): Promise<WallState>
  /**
   * Runs `fn`: its statements, also those after an await, see one organization's rows. Without a wall `fn` runs as it is. `commit` is
   * never restricted, because its units belong to many requests.
   */
  within<T>(orgId: number, fn: () => Promise<T>): Promise<T>
  /** Returns `fn` such that it runs outside of every organization; `fn` itself where that is already so. */
  detached<F extends (...args: never[]) => unknown>(fn: F): F
}

/** `role`: by a role without rights of its own. `owner`: by policies that bind the owner, too. null: the wall does not stand. */
export interface WallState {
  readonly by: 'role' | 'owner' | null
  /** Why it does not stand, or stands without a role. */
  readonly reason?: string
}

export interface WallTables {
  /** Tables are called `<prefix>` or `<prefix>_…`. Those with a column `org_id` are protected. */
  readonly prefixes: readonly string[]
  readonly belonging: Readonly<Record<string, BelongsTo>>
}

/** Rows without an `org_id` of their own, which belong to the organization of another row. */
export interface BelongsTo {
  /** The column of the table itself. */
  readonly column: string
  /** The other table, which has an `org_id`. It may be another plugin's: without it, no organization sees the rows. */
  readonly table: string
  /** The column of the other table. */
  readonly key: string
}

/**
 * A schema change. It runs forward only, once, in a transaction of its own. The tokens `{{id}}` and `{{int}}` stand for the engine's own
 * types.
 */
export interface Migration {
  id: string
  up: string | { sqlite: string; postgresql: string }
  /** For tables without a column `org_id` whose rows belong to one organization all the same. */
  belonging?: Readonly<Record<string, BelongsTo>>
}

/** Rows as a typed value in memory: read without a query and updated across processes. */
export interface View<T> {
  /** The value of the last load. */
  readonly current: T
  /**
   * Runs `change` in a transaction that also notifies other processes. When it resolves, this process has reloaded.
   * @param rows returns the ids of all rows that `change` touched. A view with `renew` then reads only these. Without it, all rows are read.
   */
  write<R>(change: (db: Db) => Promise<R>, rows?: (result: R) => readonly number[]): Promise<R>
  /** Checks for writes of other processes now instead of at the next poll. Never rejects: without a database nothing changes. */
  refresh(): Promise<void>
  /** Calls `fn` after each reload that followed a write, in this process or another one. `rows`: the ids that were read again; null: all. */
  watch(fn: (value: T, rows: ReadonlySet<number> | null) => void): void
}

/** Reads the rows with these ids again, puts them into `value`, removes those that are gone, and returns it. */
export type Renew<T> = (db: Db, ids: readonly number[], value: T) => Promise<T>

/** Stores units on disk during a database outage. A unit's statements must be safe to apply twice. */
export interface Spool {
  /** Resolves when the units would survive a crash. */
  append(units: readonly SpooledUnit[]): Promise<void>
  /** Passes all units on in order and removes those that `apply` resolved for. Returns how many. */
  drain(apply: (units: readonly SpooledUnit[]) => Promise<void>): Promise<number>
}

export type SpooledUnit = readonly Pick<Statement, 'sql' | 'expect'>[]
