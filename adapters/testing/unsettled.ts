// Finds open entries in the books of a closed gateway: reserved money, and requests without an end.
import { sql } from '../../core/db/sql.ts'
import type { Database } from '../../core/types/db.ts'

/** In words; nothing where the gateway keeps no books. */
export async function unsettled(db: Database): Promise<string[]> {
  const tables = await db.all<{ name: string }>(sql`SELECT name FROM sqlite_master WHERE name = 'ledger_dispatch'`)
  if (tables.length === 0) return []
  const held = await db.all<{ account: string; reserved_nano: number }>(
    sql`SELECT account, reserved_nano FROM ledger_accounts WHERE reserved_nano <> 0`,
  )
  const open = await db.all<{ request_id: string }>(sql`SELECT request_id FROM ledger_dispatch WHERE swept_at IS NULL`)
  return [
    ...held.map(({ account, reserved_nano }) => `${account} keeps ${reserved_nano} nano-USD back`),
    ...open.map(({ request_id }) => `${request_id} was admitted and never settled`),
  ]
}
