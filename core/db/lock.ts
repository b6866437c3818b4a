// Allows one process at a time, for the duration of a transaction.
import type { Db } from '../types/ports/db.ts'
import { sql } from './sql.ts'

/** Waits for other holders of `name` and holds it until the transaction ends. SQLite's write transactions exclude each other anyway. */
export async function lock(tx: Db, name: string): Promise<void> {
  if (tx.dialect === 'postgresql') await tx.all(sql`SELECT pg_advisory_xact_lock(hashtextextended(${`gateway:${name}`}, 0))`)
}
