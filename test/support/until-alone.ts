// A process that was killed may have sent more than it was told of: the server of PostgreSQL does it all the same.
import { sql } from '../../core/db/sql.ts'
import type { Database } from '../../core/types/ports/db.ts'

/** Until nobody else is connected to this database. */
export async function untilAlone(db: Database): Promise<void> {
  if (db.dialect !== 'postgresql') return
  const others = sql`SELECT count(*) AS n FROM pg_stat_activity
    WHERE datname = current_database() AND pid <> pg_backend_pid() AND backend_type = 'client backend'`
  while ((await db.get<{ n: number }>(others))?.n !== 0) await new Promise((resolve) => setTimeout(resolve, 20))
}
