// The section `budgets` of gateway.config.ts.
import { z } from 'zod'
import { resourceRow } from '../../core/config/owned-rows.ts'
import type { PluginGateway } from '../../core/types/plugin/plugin.ts'
import type { ResourceKind } from '../../core/types/plugin/resource.ts'
import type { Db, View } from '../../core/types/ports/db.ts'
import { type Budget, type BudgetScope, type BudgetWindow, SCOPES, WINDOWS } from './service.ts'
import { archiveBudget, type BudgetFields, budgetOf, declaredBudgets, insertBudget, updateBudget } from './store.ts'

export const NANO = 1e9
export const MAX_USD = Math.floor(Number.MAX_SAFE_INTEGER / NANO)

/** 0 blocks everything. */
export const hardLimitUsd = z
  .number('must be a number of USD')
  .min(0, 'must not be negative')
  .max(MAX_USD, `must be at most ${MAX_USD}`)

export function nanoOf(usd: number): number {
  return Math.round(usd * NANO)
}

/** Returns whether a key's budget is above GATEWAY_MAX_KEY_BUDGET_USD; 0 = no limit. */
export function isAboveKeyCap(scope: BudgetScope, limitUsd: number, maxKeyUsd: number): boolean {
  return scope === 'key' && maxKeyUsd > 0 && limitUsd > maxKeyUsd
}

/** One entry of the file. */
const declaredBudget = z
  .strictObject({
    scope: z.enum(SCOPES),
    entity: z.string().min(1, 'must not be empty').max(200).optional(),
    window: z.enum(WINDOWS),
    hardLimitUsd,
    enabled: z.boolean().default(true),
  })
  .superRefine(({ scope, entity }, context) => {
    if (scope === 'org' && entity !== undefined)
      context.addIssue({ code: 'custom', path: ['entity'], message: 'a budget of scope `org` has none' })
    if (scope !== 'org' && entity === undefined)
      context.addIssue({
        code: 'custom',
        path: ['entity'],
        message: scope === 'key' ? 'name the label of a key' : 'name a virtual model',
      })
  })
type DeclaredBudget = z.output<typeof declaredBudget>

/** A spending limit in the file. */
export interface BudgetConfig {
  scope: BudgetScope
  /** Name of a virtual model or label of a client key; not for scope `org`. */
  entity?: string
  window: BudgetWindow
  /** 0 blocks everything. */
  hardLimitUsd: number
  enabled?: boolean
  /** Takes over the budget with this scope, entity and window that the API created. */
  adopt?: boolean
}

declare module '../../core/config/define.ts' {
  interface ConfigSections {
    budgets: Record<string, BudgetConfig>
  }
}

export interface BudgetResourceOptions {
  /** USD; 0 = no limit. */
  readonly maxKeyUsd: number
  /** Counts the amount that was spent earlier in the current window, in the same transaction. */
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
      // Rows are named by scope, entity and window. When only the window differs, the row is the earlier state of the same budget.
      const others = WINDOWS.map((one) => nameOf(scope, entity ?? null, one))
      await recount(db, budgetOf(updated), !others.includes(row.name))
    },
    archive: async (db, row) => {
      await archiveBudget(db, null, row.id, now())
    },
  }
}

/** Names are unique: `key ci monthly`. */
export function nameOf(scope: BudgetScope, entity: string | null, window: BudgetWindow): string {
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
