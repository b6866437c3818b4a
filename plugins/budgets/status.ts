// Budgets as they stand now, for those who look at them.
import type { z } from 'zod'
import type { Db } from '../../core/types/db.ts'
import type { Clock } from '../../core/types/ports.ts'
import { accountOf } from './account.ts'
import { type budgetRecord, recordOf } from './api-fields.ts'
import type { Entity } from './directory.ts'
import type { Mirror } from './mirror.ts'
import { projected } from './projection.ts'
import type { Budget } from './service.ts'
import type { Calendar } from './window.ts'

export interface StatusSources {
  readonly db: Db
  readonly clock: Clock
  readonly calendar: Calendar
  readonly mirror: Pick<Mirror, 'read'>
  entityOf(budget: Budget): Entity
}

export async function statusOf(
  budgets: readonly Budget[],
  { db, clock, calendar, mirror, entityOf }: StatusSources,
): Promise<z.input<typeof budgetRecord>[]> {
  const now = clock.now()
  const asked = budgets.map((budget) => ({ budget, window: calendar.at(budget.window, now) }))
  const known = await mirror.read(
    db,
    asked.map(({ budget, window }) => accountOf(budget, window)),
  )
  return asked.map(({ budget, window }, index) => {
    const { spentNano: spent = 0, reservedNano: reserved = 0, requests = 0 } = known[index] ?? {}
    const projection = projected(window, spent, requests, now)
    return recordOf({ budget, entity: entityOf(budget), window, spent, reserved, projected: projection, now })
  })
}
