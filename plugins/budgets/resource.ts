// `budgets` of gateway.config.ts.
import { resourceRow } from '../../core/config/owned-rows.ts'
import type { Db, View } from '../../core/types/db.ts'
import type { PluginGateway } from '../../core/types/plugin.ts'
import type { ResourceKind } from '../../core/types/resource.ts'
import { type DeclaredBudget, declaredBudget, isAboveKeyCap, nanoOf } from './fields.ts'
import { type Budget, type BudgetScope, type BudgetWindow, WINDOWS } from './service.ts'
import { archiveBudget, type BudgetFields, budgetOf, declaredBudgets, insertBudget, updateBudget } from './store.ts'

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

export interface BudgetResourceOptions {
  /** USD; 0 = no bound. */
  readonly maxKeyUsd: number
  /** Counts what was spent in the current window before, in the same transaction. */
  recount(tx: Db, budget: Budget, entityChanged?: boolean): Promise<void>
}

export function budgetResource(
  gateway: PluginGateway,
  view: View<unknown>,
  { maxKeyUsd, recount }: BudgetResourceOptions,
): ResourceKind<DeclaredBudget> {
  const now = () => gateway.clock.now()
  return {
    section: 'budgets',
    schema: declaredBudget.superRefine(({ scope, hardLimitUsd }, context) => {
      if (isAboveKeyCap(scope, hardLimitUsd, maxKeyUsd))
        context.addIssue({
          code: 'custom',
          path: ['hardLimitUsd'],
          message: `a key's budget may be at most ${maxKeyUsd} USD (GATEWAY_MAX_KEY_BUDGET_USD)`,
        })
    }),
    view,
    nameOf: (_key, { scope, entity, window }) => nameOf(scope, entity ?? null, window),
    rows: async (db) =>
      (await declaredBudgets(db)).map((row) => resourceRow(row, nameOf(row.scope, row.entity_label, row.period))),
    insert: async (db, key, entry, declared) => {
      await recount(db, budgetOf(await insertBudget(db, null, fieldsOf(entry), now(), { config_key: key, declared })))
    },
    update: async (db, row, key, entry, declared) => {
      const updated = await updateBudget(db, null, row.id, fieldsOf(entry), now(), { config_key: key, declared })
      if (updated === undefined) return
      const { scope, entity } = entry
      // Rows are named by scope, entity and window. A row that differs only in its window is the same budget before the change.
      const others = WINDOWS.map((one) => nameOf(scope, entity ?? null, one))
      await recount(db, budgetOf(updated), !others.includes(row.name))
    },
    archive: async (db, row) => {
      await archiveBudget(db, null, row.id, now())
    },
  }
}

/** One budget for each of these: `key ci monthly`. */
function nameOf(scope: BudgetScope, entity: string | null, window: BudgetWindow): string {
  return [scope, entity, window].filter((part) => part !== null).join(' ')
}

function fieldsOf({ scope, entity, window, hardLimitUsd, enabled }: DeclaredBudget): BudgetFields {
  return {
    scope,
    entityId: null,
    entityLabel: entity ?? null,
    window,
    hardLimitNano: nanoOf(hardLimitUsd),
    enabled,
  }
}
