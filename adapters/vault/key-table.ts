// The table `vault_keys`. It is created before the plugins' migrations, so that a wrong master key stops the boot first.
import { lock } from '../../core/db/lock.ts'
import { sql } from '../../core/db/sql.ts'
import type { Database, Db } from '../../core/types/ports/db.ts'
import type { WrappedKey } from './key-wrap.ts'

/** The scope whose key all sub-keys are derived from; it is the first row. */
export const ROOT = 'root'

export async function hasKeyTable(db: Db): Promise<boolean> {
  const query =
    db.dialect === 'sqlite'
      ? sql`SELECT 1 AS found FROM sqlite_schema WHERE type = 'table' AND name = 'vault_keys'`
      : sql`SELECT 1 AS found FROM pg_tables WHERE tablename = 'vault_keys' AND schemaname = current_schema()`
  return (await db.get(query)) !== undefined
}

export async function createKeyTable(tx: Db): Promise<void> {
  await tx.run(
    tx.dialect === 'sqlite'
      ? sql`CREATE TABLE IF NOT EXISTS vault_keys (scope TEXT PRIMARY KEY, kek_id TEXT NOT NULL, wrapped TEXT NOT NULL, created_at INTEGER NOT NULL)`
      : sql`CREATE TABLE IF NOT EXISTS vault_keys (scope TEXT PRIMARY KEY, kek_id TEXT NOT NULL, wrapped TEXT NOT NULL, created_at BIGINT NOT NULL)`,
  )
}

export function storedKey(db: Db, scope: string): Promise<WrappedKey | undefined> {
  return db.get<WrappedKey>(sql`SELECT scope, kek_id, wrapped FROM vault_keys WHERE scope = ${scope}`)
}

export function storedKeys(db: Db): Promise<WrappedKey[]> {
  return db.all<WrappedKey>(sql`SELECT scope, kek_id, wrapped FROM vault_keys ORDER BY scope`)
}

/** Stores a scope's key, unless it has one already. */
export async function storeKey(tx: Db, { scope, kek_id, wrapped }: WrappedKey, at: number): Promise<void> {
  await tx.run(
    sql`INSERT INTO vault_keys (scope, kek_id, wrapped, created_at) VALUES (${scope}, ${kek_id}, ${wrapped}, ${at}) ON CONFLICT (scope) DO NOTHING`,
  )
}

/** Runs changes to the keys one at a time, each with the result of the one before: a rotation misses no new key. */
export function changeKeys<T>(db: Database, change: (tx: Db) => Promise<T>): Promise<T> {
  return db.tx(async (tx) => {
    if (tx.dialect === 'postgresql') await tx.run(sql`SET TRANSACTION ISOLATION LEVEL READ COMMITTED`)
    await lock(tx, 'vault')
    return change(tx)
  })
}

/**
 * SQLite may lose its last commits in a power failure. A former master key may be removed only when the rows under the new one are
 * durable.
 */
export async function makeDurable(db: Database): Promise<void> {
  if (db.dialect !== 'sqlite') return
  const result = await db.get<{ busy: number }>(sql`PRAGMA wal_checkpoint(FULL)`)
  if (result?.busy)
    throw new Error(
      'The rotation is not finished: another process keeps reading the database. Run it again, or restart the gateway.',
    )
}
