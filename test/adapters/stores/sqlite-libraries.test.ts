// Which SQLite library opens the database, and what an operator reads when there is none.
import BetterSqlite from 'better-sqlite3'
import { describe, expect, it } from 'vitest'
import { refuseSeveral, writesNothing } from '../../../adapters/stores/sqlite/built-in.ts'
import { openSqlite, type SqliteModules } from '../../../adapters/stores/sqlite/open.ts'

/** Has the members of node:sqlite, on better-sqlite3: it is not in Node 20. */
class DatabaseSync {
  readonly #db: BetterSqlite.Database

  constructor(path: string) {
    this.#db = new BetterSqlite(path)
  }

  get isTransaction(): boolean {
    return this.#db.inTransaction
  }

  prepare(text: string): object {
    const first = text.split(';', 1)[0] as string
    const statement = this.#db.prepare(first)
    return {
      sourceSQL: first,
      columns: () => (statement.reader ? statement.columns() : []),
      all: (...params: unknown[]) => statement.all(...params),
      get: (...params: unknown[]) => statement.get(...params),
      run: (...params: unknown[]) => {
        try {
          return statement.run(...params)
        } catch {
          throw Object.assign(new Error('constraint failed'), { code: 'ERR_SQLITE_ERROR', errcode: 1555 })
        }
      },
    }
  }

  exec(text: string): void {
    this.#db.exec(text)
  }

  close(): void {
    this.#db.close()
  }
}

class StatementSync {
  columns(): void {}
}

function modules(members: Partial<SqliteModules>): SqliteModules {
  const missing = (name: string) => {
    throw Object.assign(new Error(`Cannot find module '${name}'`), { code: 'MODULE_NOT_FOUND' })
  }
  return { versions: { node: '20.19.0' }, require: missing, builtIn: () => undefined, ...members }
}

describe('the SQLite library', () => {
  it('is better-sqlite3 on Node when it is installed, and node:sqlite is not even loaded', () => {
    const asked: string[] = []
    const db = openSqlite(':memory:', 0, modules({ require: () => BetterSqlite, builtIn: (name) => asked.push(name) }))
    expect(db.prepare('SELECT 1 AS one').get()).toEqual({ one: 1 })
    expect(asked).toEqual([])
    db.close()
  })

  it.each([
    ['not installed', modules({})],
    ['compiled for another Node', modules({ require: () => broken })],
  ])('is node:sqlite when better-sqlite3 is %s', (_, given) => {
    const db = openSqlite(':memory:', 0, { ...given, builtIn: () => ({ DatabaseSync, StatementSync }) })
    db.exec('CREATE TABLE t (n INTEGER PRIMARY KEY)')
    const insert = db.prepare('INSERT INTO t VALUES (?)')
    expect([insert.reader, insert.readonly, insert.run(1)]).toEqual([false, false, { changes: 1 }])
    expect(db.prepare('SELECT n FROM t').all()).toEqual([{ n: 1 }])
    expect(() => insert.run(1)).toThrow(expect.objectContaining({ code: 'SQLITE_CONSTRAINT_PRIMARYKEY' }))
    expect(() => db.prepare('SELECT 1; SELECT 2')).toThrow(RangeError)
    db.close()
  })

  it('names the package to install and the versions that have one, when there is none or only an early one', () => {
    const message = /^Node 20\.19\.0 has no SQLite .*`npm install better-sqlite3`.*Node 22\.16 or newer, Bun, or Deno 2\.2/
    expect(() => openSqlite(':memory:', 0, modules({}))).toThrow(message)
    const early = modules({ builtIn: () => ({ DatabaseSync, StatementSync: class {} }) })
    expect(() => openSqlite(':memory:', 0, early)).toThrow(message)
    expect(() => openSqlite(':memory:', 0, modules({ versions: { node: '20.11.0', deno: '2.0.0' } }))).toThrow(
      /^Deno 2\.0\.0 .* Use Node/,
    )
  })

  it('does not hide the error of SQLite itself', () => {
    const found = modules({ require: () => BetterSqlite, builtIn: () => ({ DatabaseSync, StatementSync }) })
    expect(() => openSqlite('/nowhere/at/all.db', 0, found)).toThrow(/directory does not exist/)
  })
})

/** better-sqlite3 loads its native module on the first `new`. */
function broken(): never {
  throw Object.assign(new Error('was compiled against a different Node.js version'), { code: 'ERR_DLOPEN_FAILED' })
}

describe('a built-in library', () => {
  it.each(['', ' ; \n', '-- the end', '/* a\n b */ -- c\n;'])('takes a text that ends in %j', (rest) => {
    expect(() => refuseSeveral(`SELECT 1${rest}`, 'SELECT 1')).not.toThrow()
  })

  it.each(['; SELECT 2', ' -- first\n; SELECT 2'])('refuses a text that goes on with %j', (rest) => {
    expect(() => refuseSeveral(`SELECT 1${rest}`, 'SELECT 1')).toThrow(RangeError)
  })

  it.each([
    ['SELECT 1', true],
    ['\n  values (1)', true],
    ['WITH a AS (SELECT 1) SELECT * FROM a', true],
    ['WITH a AS (SELECT 1) DELETE FROM t', false],
    ['INSERT INTO t VALUES (1) RETURNING n', false],
    ['PRAGMA journal_mode = WAL', false],
  ])('knows whether %j writes', (text, nothing) => expect(writesNothing(text)).toBe(nothing))
})
