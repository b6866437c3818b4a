// Budgets: spending limits as rows, from gateway.config.ts (SPEC "Budget").
import { definePlugin } from '../../core/plugins/define.ts'
import type { Db } from '../../core/types/db.ts'
import { migrations } from './migrations.ts'
import { budgetResource } from './resource.ts'
import type { Budget } from './service.ts'
import { type BudgetRow, type IncreaseRow, livingBudgets, livingIncreases } from './store.ts'

/** Provides the service `budgets`. */
export const budgets = definePlugin({
  name: 'budgets',
  migrations,
  async setup(gateway) {
    const view = await gateway.view('living', load)
    gateway.provide('budgets', {
      list: (orgId) => view.current.filter((budget) => budget.orgId === orgId),
      get: (orgId, id) => view.current.find((budget) => budget.id === id && budget.orgId === orgId) ?? null,
    })
    gateway.resource(budgetResource(gateway as never, view))
  },
})

async function load(db: Db): Promise<readonly Budget[]> {
  const increases = new Map<number, IncreaseRow[]>()
  for (const increase of await livingIncreases(db))
    increases.set(increase.budget_id, [...(increases.get(increase.budget_id) ?? []), increase])
  return (await livingBudgets(db)).map((row) => budgetOf(row, increases.get(row.id) ?? []))
}

function budgetOf(row: BudgetRow, increases: readonly IncreaseRow[]): Budget {
  return {
    id: row.id,
    orgId: row.org_id === 0 ? null : row.org_id,
    scope: row.scope,
    entityId: row.entity_id,
    entityLabel: row.entity_label,
    window: row.period,
    hardLimitNano: row.hard_limit_nano,
    enabled: row.enabled,
    increases: increases.map((increase) => ({
      id: increase.id,
      amountNano: increase.amount_nano,
      reason: increase.reason,
      expiresAt: increase.expires_at,
      createdAt: increase.created_at,
      createdBy: increase.created_by,
    })),
    managedBy: row.managed_by,
    configKey: row.config_key,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  }
}

export default budgets
