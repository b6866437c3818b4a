// `budgets` of gateway.config.ts.
import { resourceRow } from '../../core/config/owned-rows.ts'
import type { View } from '../../core/types/db.ts'
import type { PluginGateway } from '../../core/types/plugin.ts'
import type { ResourceKind } from '../../core/types/resource.ts'
import { type DeclaredBudget, declaredBudget, NANO } from './fields.ts'
import type { BudgetScope, BudgetWindow } from './service.ts'
import { archiveBudget, type BudgetFields, declaredBudgets, insertBudget, updateBudget } from './store.ts'

/** A spending limit in the file. */
export interface BudgetConfig {
  scope: BudgetScope
  /** Name of a virtual model or label of a client key; not for scope `org`. */
  entity?: string
  window: BudgetWindow
  /** 0 blocks everything. */
  hardLimitUsd: number
  enabled?: boolean
  /** Takes over the budget of this scope, entity and window that was made through the API. */
  adopt?: boolean
}

declare module '../../core/config/define.ts' {
  interface ConfigSections {
    budgets: Record<string, BudgetConfig>
  }
}

export function budgetResource(gateway: PluginGateway, view: View<unknown>): ResourceKind<DeclaredBudget> {
  const now = () => gateway.clock.now()
  return {
    section: 'budgets',
    schema: declaredBudget,
    view,
    nameOf: (_key, { scope, entity, window }) => nameOf(scope, entity ?? null, window),
    rows: async (db) =>
      (await declaredBudgets(db)).map((row) => resourceRow(row, nameOf(row.scope, row.entity_label, row.period))),
    insert: async (db, key, entry, declared) => {
      await insertBudget(db, null, fieldsOf(entry), now(), { config_key: key, declared })
    },
    update: async (db, row, key, entry, declared) => {
      await updateBudget(db, null, row.id, fieldsOf(entry), now(), { config_key: key, declared })
    },
    archive: async (db, row) => {
      await archiveBudget(db, null, row.id, now())
    },
  }
}

/** One budget for each of these (CONTRACTS 7.2): `key ci monthly`. */
function nameOf(scope: BudgetScope, entity: string | null, window: BudgetWindow): string {
  return [scope, entity, window].filter((part) => part !== null).join(' ')
}

function fieldsOf({ scope, entity, window, hardLimitUsd, enabled }: DeclaredBudget): BudgetFields {
  return {
    scope,
    entityId: null,
    entityLabel: entity ?? null,
    window,
    hardLimitNano: Math.round(hardLimitUsd * NANO),
    enabled,
  }
}
