// Deletes the sums of budgets whose rows are gone, such as those of a deleted organization. It runs after such a deletion, and each hour for
// requests that settled later.
import { sql } from '../../core/db/sql.ts'
import type { PluginGateway, Services } from '../../core/types/plugin/plugin.ts'
import { PREFIX } from './window.ts'

const HOUR_MS = 3_600_000

export function forgetSums(gateway: PluginGateway, ledger: Pick<Services['ledger'], 'names' | 'drop'>): void {
  const { db } = gateway
  const forget = async (): Promise<void> => {
    const names = await ledger.names(db, PREFIX)
    // Read after the names: an account is never older than its budget. Archived rows keep their sums.
    const rows = await db.all<{ id: number }>(sql`SELECT id FROM budgets`)
    const living = new Set(rows.map(({ id }) => PREFIX + id))
    await ledger.drop(
      db,
      names.filter((name) => !living.has(name)),
    )
  }
  gateway.every('forget-sums', HOUR_MS, forget, { once: true })
  gateway.events.on('organization.deleted', ({ org_id }) => {
    const sessions = async () => ledger.drop(db, await ledger.names(db, `session:${org_id}:`))
    void gateway
      .detached(async () => {
        await forget()
        await sessions()
      })()
      .catch((error: unknown) => gateway.log.warn('budgets.sums_kept', { error, hint: 'They are deleted within an hour.' }))
  })
}
