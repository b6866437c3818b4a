// Opens SQLite with better-sqlite3.
import { createRequire } from 'node:module'
import type Sqlite from 'better-sqlite3'
import type { SqliteHandle } from './handle.ts'

export type BetterSqlite = typeof Sqlite

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

export function openBetterSqlite(BetterSqlite3: BetterSqlite, path: string, waitMs: number): SqliteHandle {
  const db = pinForProcess(new BetterSqlite3(path, { timeout: waitMs, ...compiled() }))
  return {
    get inTransaction() {
      return db.inTransaction
    },
    prepare: (text) => pinForProcess(db.prepare<unknown[]>(text)),
    exec: (text) => db.exec(text),
    close: () => db.close(),
  }
}

/** Where its installation puts the compiled part. It searches a dozen other places first, with a package of its own. */
function compiled(): { nativeBinding?: string } {
  try {
    return { nativeBinding: createRequire(import.meta.url).resolve('better-sqlite3/build/Release/better_sqlite3.node') }
  } catch {
    return {}
  }
}
