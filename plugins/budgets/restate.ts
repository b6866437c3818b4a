// Computes the amount already spent in the current window from the usage rows, for a budget that is new or has another window.
import { z } from 'zod'
import { sql } from '../../core/db/sql.ts'
import type { Calendar, Window } from '../../core/timing/calendar.ts'
import type { PluginGateway, Services } from '../../core/types/plugin/plugin.ts'
import type { Database, Db } from '../../core/types/ports/db.ts'
import type { Timer } from '../../core/types/ports/ports.ts'
import type { Entity } from './directory.ts'
import type { Budget } from './service.ts'
import { accountOf } from './window.ts'

export type Filter = Parameters<Services['ledger']['usage']['charged']>[1]

export interface Recounts {
  /**
   * Runs inside the transaction that writes the row. Usage rows expire, so an account of the same entity is never lowered. @param
   * entityChanged the account's amounts belong to another entity.
   */
  now(tx: Db, budget: Budget, entityChanged?: boolean): Promise<void>
  /** Counts again later: other processes book nothing to the row until they have read it. */
  later(budgetId: number): void
  close(): void
}

export interface RecountSources {
  readonly gateway: Pick<PluginGateway, 'db' | 'clock' | 'log'>
  readonly ledger: Pick<Services['ledger'], 'balances' | 'restate' | 'usage'>
  readonly calendar: Calendar
  budgets(): ReadonlyMap<number, Budget>
  entityOf(budget: Budget): Entity
}

/** Processes read changed rows every second. */
const LATER_MS = 5000
const NOTHING = { nano: 0, requests: 0 }

/** Returns the filter of the usage rows that count; null: the entity does not exist, so there are none. */
export function usageOf({ scope, orgId }: Budget, { id, label, found }: Entity, { start, end }: Window): Filter | null {
  const window = { since: start, until: end ?? Number.MAX_SAFE_INTEGER, orgId }
  if (scope === 'org') return window
  if (!found || id === null || label === null) return null
  return scope === 'key' ? { ...window, keyId: id } : { ...window, virtualModel: label }
}

export function recounts({ gateway, ledger, calendar, budgets, entityOf }: RecountSources): Recounts {
  const { db, clock, log } = gateway
  const timers = new Set<Timer>()
  const count = async (tx: Db, budget: Budget, entityChanged = false): Promise<void> => {
    const window = calendar.at(budget.window, clock.now())
    const account = accountOf(budget, window)
    const filter = usageOf(budget, entityOf(budget), window)
    const { nano, requests } = filter === null ? NOTHING : await ledger.usage.charged(tx, filter)
    const [before] = entityChanged ? [] : await ledger.balances(tx, [account])
    if (entityChanged || nano > (before?.spentNano ?? 0)) await ledger.restate(tx, account, nano, requests)
  }
  return {
    now: count,
    later(budgetId) {
      const run = (): void => {
        timers.delete(timer)
        const budget = budgets().get(budgetId)
        if (budget === undefined) return
        db.tx((tx) => count(tx, budget)).catch((error: unknown) =>
          log.warn('budgets.recount_failed', { budget: budgetId, error: String(error) }),
        )
      }
      const timer = clock.timer(LATER_MS, run, true)
      timers.add(timer)
    },
    close() {
      for (const timer of timers) timer.cancel()
    },
  }
}

// In another time zone windows begin at another time. When the accounts were made with another zone, the amounts of the current windows
// are counted again from the usage rows.
const zoneRow = z.object({ zone: z.string() })

/** Runs before the first request. */
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
