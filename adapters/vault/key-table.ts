// The table `vault_keys`: made before the plugins' migrations, so that a wrong master key stops the boot first.
import { lock } from '../../core/db/lock.ts'
import { sql } from '../../core/db/sql.ts'
import type { Database, Db } from '../../core/types/db.ts'
import type { WrappedKey } from './key-wrap.ts'

/** The scope whose key all sub-keys come from; the first row there is. */
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

/** A scope keeps the key it got first. */
export async function storeKey(tx: Db, { scope, kek_id, wrapped }: WrappedKey, at: number): Promise<void> {
  await tx.run(
    sql`INSERT INTO vault_keys (scope, kek_id, wrapped, created_at) VALUES (${scope}, ${kek_id}, ${wrapped}, ${at}) ON CONFLICT (scope) DO NOTHING`,
  )
}

/** Changes to the keys one after the other, each seeing the one before: a rotation misses none that is being made. */
export function changeKeys<T>(db: Database, change: (tx: Db) => Promise<T>): Promise<T> {
  return db.tx(async (tx) => {
    if (tx.dialect === 'postgresql') await tx.run(sql`SET TRANSACTION ISOLATION LEVEL READ COMMITTED`)
    await lock(tx, 'vault')
    return change(tx)
  })
}

/** SQLite may lose its last commits in a power cut; a former master key may only go once the rows under the new one are safe. */
export async function makeDurable(db: Database): Promise<void> {
  if (db.dialect !== 'sqlite') return
  const result = await db.get<{ busy: number }>(sql`PRAGMA wal_checkpoint(FULL)`)
  if (result?.busy)
    throw new Error(
      'The rotation is not finished: another process keeps reading the database. Run it again, or restart the gateway.',
    )
}
