// A database that counts what is asked of it, and can be made to fail.
import { storageUnavailable } from '../../core/db/storage-fault.ts'
import type { Database, Sql } from '../../core/types/ports/db.ts'

export interface WatchedDatabase extends Database {
  /** Texts of statements, newest last. */
  readonly asked: string[]
  /** While true every verb rejects. */
  away: boolean
}

export function watchedDatabase(inner: Database): WatchedDatabase {
  const asked: string[] = []
  const state = { away: false }
  const through = async <T>(what: string, run: () => Promise<T>): Promise<T> => {
    asked.push(what)
    if (state.away) throw storageUnavailable('it cannot be reached.')
    return run()
  }
  const textOf = (query: Sql) => query.text
  return {
    asked,
    get away() {
      return state.away
    },
    set away(away) {
      state.away = away
    },
    dialect: inner.dialect,
    kind: inner.kind,
    all: (query, row) => through(textOf(query), () => inner.all(query, row)),
    get: (query, row) => through(textOf(query), () => inner.get(query, row)),
    run: (query) => through(textOf(query), () => inner.run(query)),
    atomic: (statements) => through('atomic', () => inner.atomic(statements)),
    tx: (fn) => through('tx', () => inner.tx(fn)),
    commit: (units) => through('commit', () => inner.commit(units)),
    ping: () => through('ping', () => inner.ping()),
    close: () => inner.close(),
  }
}
