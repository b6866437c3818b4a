// Windows begin elsewhere in another time zone: what was spent in the current ones is counted again from the usage rows when
// the zone is not the one that the accounts were made with.
import { z } from 'zod'
import { sql } from '../../core/db/sql.ts'
import type { Database, Db } from '../../core/types/db.ts'
import type { Budget } from './service.ts'

const zoneRow = z.object({ zone: z.string() })

/** Before the first request. */
export async function recountForZone(
  db: Pick<Database, 'tx'>,
  zone: string,
  budgets: Iterable<Budget>,
  count: (tx: Db, budget: Budget) => Promise<void>,
): Promise<void> {
  await db.tx(async (tx) => {
    const known = await tx.get(sql`SELECT zone FROM budgets_zone WHERE id = 1`, zoneRow)
    if (known?.zone === zone) return
    for (const budget of budgets) await count(tx, budget)
    await tx.run(sql`INSERT INTO budgets_zone (id, zone) VALUES (1, ${zone}) ON CONFLICT (id) DO UPDATE SET zone = excluded.zone`)
  })
}
