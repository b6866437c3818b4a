// Values that a shell completes: labels of keys, virtual models and models. They are read from the SQLite file, never over the network,
// and without loading the gateway: a shell waits for them at each press of the key.
import { existsSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { sqlitePath } from '../../stores/open-database.ts'

export const VALUE_KINDS = ['keys', 'key-ids', 'connections', 'virtual-models', 'models'] as const
export type ValueKind = (typeof VALUE_KINDS)[number]

/** As many as a shell can list. */
const MOST = 200
/** A scan of the newest log rows takes a few milliseconds. */
const NEWEST_ROWS = 2000

const LIVE_KEYS = 'FROM keys WHERE revoked_at IS NULL AND archived_at IS NULL ORDER BY id DESC'
const VIRTUAL = 'SELECT name AS value FROM virtual_models WHERE archived_at IS NULL'
const LOGGED = `SELECT provider || '/' || model AS value FROM (SELECT provider, model FROM request_log ORDER BY id DESC LIMIT ${NEWEST_ROWS}) WHERE model IS NOT NULL AND provider IS NOT NULL`
const DEFAULTS = `SELECT provider || '/' || default_model AS value FROM connections WHERE default_model IS NOT NULL AND archived_at IS NULL`
const ALLOWED = `SELECT provider || '/' || json_each.value AS value FROM connections, json_each(allowed_models) WHERE archived_at IS NULL`

const QUERIES: Readonly<Record<ValueKind, readonly string[]>> = {
  keys: [`SELECT label AS value ${LIVE_KEYS}`],
  'key-ids': [`SELECT id AS value ${LIVE_KEYS}`],
  connections: ['SELECT id AS value FROM connections WHERE archived_at IS NULL ORDER BY id'],
  'virtual-models': [VIRTUAL],
  models: [VIRTUAL, DEFAULTS, ALLOWED, LOGGED],
}

/** Returns no values when there is no SQLite file, or when it cannot be read: completion is silent. */
export function databaseValues(kind: ValueKind, environment: NodeJS.ProcessEnv): string[] {
  const file = databaseFile(environment)
  if (file === null || !existsSync(file)) return []
  try {
    const database = new Database(file, { readonly: true, timeout: 50 })
    try {
      const found = new Set<string>()
      for (const query of QUERIES[kind]) for (const value of read(database, query)) if (isWord(value)) found.add(value)
      return [...found].slice(0, MOST)
    } finally {
      database.close()
    }
  } catch {
    return []
  }
}

/** A table is missing where its plugin is left out. */
function read(database: Database.Database, query: string): string[] {
  try {
    return (database.prepare(query).all() as { value: string | number }[]).map(({ value }) => String(value))
  } catch {
    return []
  }
}

/** Shells split at white space, and globs are no names. */
function isWord(value: string): boolean {
  return /^[\w.:/@+-]{1,200}$/.test(value)
}

/** null: PostgreSQL, which is beyond the network. The configuration file is not loaded, because that takes too long. */
function databaseFile(environment: NodeJS.ProcessEnv): string | null {
  const { XDG_DATA_HOME, GATEWAY_DATA_DIR, DATABASE_URL } = environment
  const url = environment.GATEWAY_DATABASE_URL || DATABASE_URL || 'sqlite:gateway.db'
  if (/^postgres(ql)?:/.test(url)) return null
  const standard = XDG_DATA_HOME ? join(XDG_DATA_HOME, 'hookgate') : join(homedir(), '.local', 'share', 'hookgate')
  return sqlitePath(url, GATEWAY_DATA_DIR || standard)
}
