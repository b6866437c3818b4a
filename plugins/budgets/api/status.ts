// Computes the current status of budgets for the API.
import type { z } from 'zod'
import type { Calendar } from '../../../core/timing/calendar.ts'
import type { PluginGateway } from '../../../core/types/plugin/plugin.ts'
import type { Db } from '../../../core/types/ports/db.ts'
import type { Clock } from '../../../core/types/ports/ports.ts'
import type { Entity } from '../directory.ts'
import { limitOf, projected } from '../limit.ts'
import type { Mirror } from '../mirror.ts'
import { NANO } from '../resource.ts'
import type { Budget } from '../service.ts'
import { accountAt, accountOf } from '../window.ts'
import { type budgetRecord, recordOf } from './fields.ts'

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

// Budget metrics of this process, read at scrape time. With many budgets only sums by scope are exported, so that the number of series
// stays bounded.
interface BudgetMetrics {
  rejected(scope: Budget['scope'] | 'session'): void
}

const MAX_SHOWN = 200

export function budgetMetrics(
  { metrics, clock }: Pick<PluginGateway, 'metrics' | 'clock'>,
  budgets: () => ReadonlyMap<number, Budget>,
  mirror: Pick<Mirror, 'peek'>,
  calendar: Calendar,
): BudgetMetrics {
  const labels = ['budget', 'scope']
  const limit = metrics.gauge(
    'budget_limit_usd',
    'What the budget allows now, by id; above 200 budgets the sum of a scope.',
    labels,
    'max',
  )
  const spent = metrics.gauge('budget_spent_usd', 'Spent in the current window.', labels, 'max')
  const reserved = metrics.gauge('budget_reserved_usd', 'What running requests keep back of it.', labels, 'max')
  const ratio = metrics.gauge('budget_used_ratio', 'Spent and kept back, as a part of the limit; 1 = used up.', labels, 'max')
  const collect = (): void => {
    for (const gauge of [limit, spent, reserved, ratio]) gauge.reset()
    const now = clock.now()
    const shown = [...budgets().values()].filter(({ enabled }) => enabled)
    const single = shown.length <= MAX_SHOWN
    const sums = new Map<string, { of: Record<string, string>; limit: number; spent: number; reserved: number }>()
    for (const budget of shown) {
      const of = { budget: single ? String(budget.id) : 'all', scope: budget.scope }
      const name = `${of.budget} ${of.scope}`
      const sum = sums.get(name) ?? { of, limit: 0, spent: 0, reserved: 0 }
      const known = mirror.peek(accountAt(budget, calendar, now))
      sum.limit += limitOf(budget, now)
      sum.spent += known?.spentNano ?? 0
      sum.reserved += known?.reservedNano ?? 0
      sums.set(name, sum)
    }
    for (const sum of sums.values()) {
      limit.set(sum.of, sum.limit / NANO)
      spent.set(sum.of, sum.spent / NANO)
      reserved.set(sum.of, sum.reserved / NANO)
      ratio.set(sum.of, sum.limit === 0 ? 1 : (sum.spent + sum.reserved) / sum.limit)
    }
  }
  Object.assign(limit, { collect })
  const rejections = metrics.tally('budget_rejections_total', 'Requests refused with 402, by whose budget refused.', ['scope'])
  return { rejected: (scope) => rejections.series(scope).add(1) }
}
