// Exports and imports budgets. They name their client key or virtual model by its label.
import { z } from 'zod'
import type { PluginGateway } from '../../core/types/plugin/plugin.ts'
import type { PortableKind } from '../../core/types/plugin/portable.ts'
import type { View } from '../../core/types/ports/db.ts'
import { type Entities, entityOf, ofOrganization } from './directory.ts'
import { hardLimitUsd, NANO, nameOf, nanoOf } from './resource.ts'
import type { Recounts } from './restate.ts'
import { type Budget, SCOPES, WINDOWS } from './service.ts'
import { budgetOf, insertBudget, updateBudget } from './store.ts'

const data = z.strictObject({
  scope: z.enum(SCOPES),
  entity: z.string().min(1).max(200).nullable(),
  window: z.enum(WINDOWS),
  hard_limit_usd: hardLimitUsd,
  enabled: z.boolean(),
})

export interface PortableBudgets {
  readonly gateway: PluginGateway
  readonly view: View<ReadonlyMap<number, Budget>>
  readonly entities: Entities
  readonly recounts: Recounts
}

/** When this gateway does not have the budget's key yet, the budget starts when a key gets the label. */
export function portableBudgets({ gateway, view, entities, recounts }: PortableBudgets): PortableKind<z.output<typeof data>> {
  const mine = (orgId: number | null) => ofOrganization(view.current, orgId)
  const named = (budget: Budget) => nameOf(budget.scope, entityOf(budget, entities).label, budget.window)
  return {
    kind: 'budgets',
    after: ['virtual_models'],
    schema: data.refine(({ scope, entity }) => (scope === 'org') === (entity === null), {
      path: ['entity'],
      error: 'names a key or virtual model; null for the scope `org`',
    }),
    secrets: [],
    view: view as View<unknown>,
    async rows(orgId) {
      return mine(orgId).map((budget) => ({
        name: named(budget),
        managedBy: budget.managedBy,
        data: {
          scope: budget.scope,
          entity: entityOf(budget, entities).label,
          window: budget.window,
          hard_limit_usd: budget.hardLimitNano / NANO,
          enabled: budget.enabled,
        },
        secrets: {},
      }))
    },
    async write({ db, orgId, data: { scope, entity, window, hard_limit_usd, enabled }, existing }) {
      const now = gateway.clock.now()
      const before = existing === null ? undefined : mine(orgId).find((budget) => named(budget) === existing)
      const given = { scope, entityLabel: entity, window, hardLimitNano: nanoOf(hard_limit_usd), enabled }
      const row = before
        ? await updateBudget(db, orgId, before.id, { ...given, entityId: before.entityId }, now)
        : await insertBudget(db, orgId, { ...given, entityId: null }, now)
      if (row !== undefined) await recounts.now(db, budgetOf(row))
      return null
    },
  }
}
