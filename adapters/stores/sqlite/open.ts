// Chooses the SQLite library: the one built into Bun and Deno; on Node better-sqlite3 when it is installed, and else node:sqlite.
import { createRequire } from 'node:module'
import { type BetterSqlite, openBetterSqlite } from './better-sqlite3.ts'
import { type BunSqlite, openBunSqlite } from './bun-sqlite.ts'
import type { SqliteHandle } from './handle.ts'
import { type NodeSqlite, openNodeSqlite } from './node-sqlite.ts'

/** How the runtime finds its modules; tests replace it. */
export interface SqliteModules {
  readonly versions: Readonly<Record<string, string | undefined>>
  /** @throws Error when the package is not installed. */
  require(name: string): unknown
  /** Returns undefined when the runtime has no such module. */
  builtIn(name: string): unknown
}

const runtimeModules: SqliteModules = {
  versions: process.versions,
  require: createRequire(import.meta.url),
  builtIn: (name) => process.getBuiltinModule(name),
}

/** @throws Error naming the package to install when the runtime has no SQLite; the error of SQLite when it cannot open the file. */
export function openSqlite(path: string, waitMs: number, modules: SqliteModules = runtimeModules): SqliteHandle {
  const { versions, require, builtIn } = modules
  if (versions.bun !== undefined) return openBunSqlite(require('bun:sqlite') as BunSqlite, path, waitMs)
  let missing: unknown
  try {
    if (versions.deno === undefined) return openBetterSqlite(require('better-sqlite3') as BetterSqlite, path, waitMs)
  } catch (error) {
    if (!isNotLoaded(error)) throw error
    missing = error
  }
  const found = completeSqlite(builtIn('node:sqlite'))
  if (found !== null) return openNodeSqlite(found, path, waitMs)
  const at = versions.deno === undefined ? `Node ${versions.node}` : `Deno ${versions.deno}`
  const install = versions.deno === undefined ? 'Install it with `npm install better-sqlite3`, or use' : 'Use'
  throw new Error(`${at} has no SQLite that hookgate can use. ${install} Node 22.16 or newer, Bun, or Deno 2.2 or newer.`, {
    cause: missing,
  })
}

/** node:sqlite before Node 22.16 does not say whether a statement returns rows. */
function completeSqlite(found: unknown): NodeSqlite | null {
  const statements = (found as { StatementSync?: { prototype: object } } | undefined)?.StatementSync
  return statements !== undefined && 'columns' in statements.prototype ? (found as NodeSqlite) : null
}

/** Not installed, installed without its scripts, or compiled for another version of Node. */
function isNotLoaded(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  const { code } = error as { code?: unknown }
  return (
    code === 'MODULE_NOT_FOUND' || code === 'ERR_DLOPEN_FAILED' || error.message.startsWith('Could not locate the bindings file')
  )
}
