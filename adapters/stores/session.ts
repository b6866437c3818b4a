// Transactions over one connection, the same on every engine: the Db that `tx` passes, and the units of a group commit.
import { CommitInDoubt } from '../../core/db/storage-fault.ts'
import type { AtomicResult, Db, RowSchema, Sql, Statement, UnitResult } from '../../core/types/ports/db.ts'
import { Mutex } from './mutex.ts'

export interface Rows {
  rows: Record<string, unknown>[]
  /** Rows changed, or rows returned by a statement that changes nothing. */
  count: number
}

/** One connection; its statements run in order. */
export interface Session {
  readonly dialect: Db['dialect']
  query(query: Sql): Promise<Rows>
  /** Sends transaction control, in one round trip if the engine can. Constant text only. */
  command(...texts: string[]): Promise<void>
}

/** Runs `begin`, `fn` and COMMIT; ROLLBACK when `fn` rejects or ignored the failure of a statement. */
export function transaction<T>(session: Session, begin: string, fn: (db: Db) => Promise<T>): Promise<T> {
  return scope(session, { open: begin, close: ['COMMIT'], undo: ['ROLLBACK'] }, 1, fn)
}

/** Runs `begin`, `fn` and COMMIT; ROLLBACK when `fn` rejects. */
export async function inTransaction<T>(session: Session, begin: string, fn: (session: Session) => Promise<T>): Promise<T> {
  await session.command(begin)
  try {
    const result = await fn(session)
    await session.command('COMMIT')
    return result
  } catch (error) {
    await session.command('ROLLBACK').catch(() => {})
    throw error
  }
}

/** Runs statements up to the first whose row count differs from `expect`; the caller rolls back. */
export async function runUnit(session: Session, unit: readonly { sql: Sql; expect?: number }[]): Promise<AtomicResult> {
  for (let index = 0; index < unit.length; index++) {
    const { sql, expect } = unit[index] as Statement
    const { count } = await session.query(sql)
    if (expect !== undefined && count !== expect) return { ok: false, index }
  }
  return { ok: true }
}

export interface CommitRules {
  readonly begin: string
  /** Returns whether the transaction cannot continue after this error. */
  fatal(error: unknown): boolean
  /** Returns whether the connection is lost, and with it the answer to the last command. */
  lost?(error: unknown): boolean
  /** Returns the statement that takes locks before the first unit; null when none is needed. */
  locking?(names: readonly string[]): Sql | null
}

/**
 * Runs all units in one transaction. A statement's error refuses its unit, unless it is fatal: then everything is rolled back and the
 * error is thrown. Units that cannot refuse run without a savepoint. When one of them fails, everything runs again with a savepoint for
 * each.
 */
export async function commitUnits(
  session: Session,
  units: readonly (readonly Statement[])[],
  rules: CommitRules,
): Promise<UnitResult[]> {
  const refusing = units.map((unit) => unit.some(({ expect }) => expect !== undefined))
  const plain = refusing.includes(false)
  try {
    return await committed(session, units, rules, (index) => refusing[index] === true)
  } catch (error) {
    if (!plain || rules.fatal(error)) throw error
    return committed(session, units, rules, () => true)
  }
}

async function committed(
  session: Session,
  units: readonly (readonly Statement[])[],
  { begin, fatal, lost, locking }: CommitRules,
  isSaved: (index: number) => boolean,
): Promise<UnitResult[]> {
  // Sent together with the next command: this saves a round trip.
  let before = [begin]
  let committing = false
  const locks = locking?.(locksOf(units)) ?? null
  const started = async () => {
    if (before.length > 0) await session.command(...before)
    before = []
  }
  try {
    if (locks !== null) {
      await started()
      await session.query(locks)
    }
    const results: UnitResult[] = []
    for (const [index, unit] of units.entries()) {
      if (!isSaved(index)) {
        await started()
        for (const { sql } of unit) await session.query(sql)
        results.push({ ok: true })
        continue
      }
      await session.command(...before, 'SAVEPOINT unit')
      const result = await savedUnit(session, unit, fatal)
      before = result.ok ? ['RELEASE SAVEPOINT unit'] : ['ROLLBACK TO SAVEPOINT unit', 'RELEASE SAVEPOINT unit']
      results.push(result)
    }
    committing = true
    await session.command(...before, 'COMMIT')
    return results
  } catch (error) {
    if (committing && lost?.(error)) throw new CommitInDoubt(error)
    await session.command('ROLLBACK').catch(() => {})
    throw error
  }
}

/** Returns each name once, in the one order that all replicas share. */
function locksOf(units: readonly (readonly Statement[])[]): readonly string[] {
  const names = new Set<string>()
  for (const unit of units) for (const { lock } of unit) if (lock !== undefined) names.add(lock)
  return names.size < 2 ? [...names] : [...names].sort()
}

async function savedUnit(session: Session, unit: readonly Statement[], fatal: (error: unknown) => boolean): Promise<UnitResult> {
  let index = 0
  try {
    for (; index < unit.length; index++) {
      const { sql, expect } = unit[index] as Statement
      const { count } = await session.query(sql)
      if (expect !== undefined && count !== expect) return { ok: false, index, error: null }
    }
    return { ok: true }
  } catch (error) {
    if (fatal(error)) throw error
    return { ok: false, index, error: error as Error }
  }
}

interface Scope {
  open: string
  close: readonly string[]
  undo: readonly string[]
}

async function scope<T>(session: Session, words: Scope, depth: number, fn: (db: Db) => Promise<T>): Promise<T> {
  await session.command(words.open)
  const db = new TransactionDb(session, depth)
  try {
    const result = await fn(db)
    db.finish()
    await session.command(...words.close)
    return result
  } catch (error) {
    db.abandon()
    await session.command(...words.undo).catch(() => {})
    throw error
  }
}

/** After a failed statement all further ones are refused, as PostgreSQL does. */
class TransactionDb implements Db {
  readonly dialect: Db['dialect']
  readonly #session: Session
  readonly #depth: number
  readonly #nested = new Mutex()
  #over = false
  #failure: { error: unknown } | null = null

  constructor(session: Session, depth: number) {
    this.dialect = session.dialect
    this.#session = session
    this.#depth = depth
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
    let refused: AtomicResult = { ok: true }
    try {
      await this.#savepoint(async () => {
        refused = await runUnit(this.#session, statements)
        if (!refused.ok) throw REFUSED
      })
    } catch (error) {
      if (error !== REFUSED) throw error
    }
    return refused
  }

  tx<T>(fn: (db: Db) => Promise<T>): Promise<T> {
    return this.#savepoint(fn)
  }

  finish(): void {
    this.#over = true
    if (this.#failure !== null) throw this.#failure.error
  }

  abandon(): void {
    this.#over = true
  }

  async #query(query: Sql): Promise<Rows> {
    this.#check()
    try {
      return await this.#session.query(query)
    } catch (error) {
      this.#failure ??= { error }
      throw error
    }
  }

  #savepoint<T>(fn: (db: Db) => Promise<T>): Promise<T> {
    // Savepoints are a stack: two at a time would roll back each other.
    return this.#nested.hold(() => {
      this.#check()
      const name = `level_${this.#depth}`
      const release = `RELEASE SAVEPOINT ${name}`
      const words = { open: `SAVEPOINT ${name}`, close: [release], undo: [`ROLLBACK TO SAVEPOINT ${name}`, release] }
      return scope(this.#session, words, this.#depth + 1, fn)
    })
  }

  #check(): void {
    if (this.#over) throw new Error('This transaction is over: await every statement inside the function given to db.tx().')
    if (this.#failure !== null)
      throw new Error('A statement of this transaction has failed, and only rolling back is left.', {
        cause: this.#failure.error,
      })
  }
}

const REFUSED = Symbol('refused')

export function parseRows<T>(rows: unknown[], schema: RowSchema<T> | undefined): T[] {
  return schema === undefined ? (rows as T[]) : rows.map((row) => schema.parse(row))
}
