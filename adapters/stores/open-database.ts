// Opens the database of GATEWAY_DATABASE_URL; without it, SQLite in the data directory.
import { isAbsolute, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Database } from '../../core/types/ports/db.ts'

/**
 * `postgres://…`, `postgresql://…`, `sqlite:<path>`, `sqlite::memory:`, `file:<path or URL>`; null: `gateway.db` in `dataDir`. Relative
 * paths start at `dataDir`.
 * @throws Error naming GATEWAY_DATABASE_URL, without the address; GatewayError 503 when a SQLite file cannot be opened.
 */
export async function openDatabase(url: string | null, dataDir: string): Promise<Database> {
  if (url !== null && /^postgres(ql)?:\/\//.test(url)) {
    const { postgresDatabase } = await import('./postgres.ts')
    return postgresDatabase({ url })
  }
  const path = url === null ? join(dataDir, 'gateway.db') : sqlitePath(url, dataDir)
  const { sqliteDatabase } = await import('./sqlite.ts')
  return sqliteDatabase({ path })
}

export function sqlitePath(url: string, dataDir: string): string {
  if (url === ':memory:' || url === 'sqlite::memory:') return ':memory:'
  if (url.startsWith('file://')) return fileURLToPath(url)
  const path = /^(?:sqlite|file):(?:\/\/(?=\/))?(.+)$/.exec(url)?.[1]
  if (path === undefined)
    throw new Error(
      'GATEWAY_DATABASE_URL must be `postgres://user:password@host/database`, `sqlite:<path>` or `sqlite::memory:`.',
    )
  return isAbsolute(path) ? path : resolve(dataDir, path)
}
