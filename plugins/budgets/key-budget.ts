// Creates the budget of each new client key (DEFAULT_KEY_BUDGET_*). It applies before the key's secret is returned.

import type { PluginGateway } from '../../core/types/plugin/plugin.ts'
import type { View } from '../../core/types/ports/db.ts'
import { nanoOf } from './resource.ts'
import { type BudgetWindow, WINDOWS } from './service.ts'
import { insertBudget } from './store.ts'

export interface KeyBudgetOptions {
  /** USD; 0: no budget. */
  readonly usd: number
  /** Any text that is not a window: no budget. */
  readonly window: string
  /** 0: no limit. */
  readonly maxUsd: number
}

/** Returns a function that ends it. */
export function defaultKeyBudget(gateway: PluginGateway, view: View<unknown>, options: KeyBudgetOptions): () => void {
  const { usd, maxUsd } = options
  if (usd === 0) return () => {}
  const window = WINDOWS.find((known): known is BudgetWindow => known === options.window)
  if (window === undefined) {
    gateway.log.warn('budgets.unknown_window', {
      window: options.window,
      hint: 'GATEWAY_DEFAULT_KEY_BUDGET_WINDOW is invalid. New keys get no budget.',
    })
    return () => {}
  }
  if (maxUsd > 0 && usd > maxUsd)
    gateway.log.warn('budgets.default_above_maximum', {
      hint: 'GATEWAY_MAX_KEY_BUDGET_USD applies to new keys instead of the larger GATEWAY_DEFAULT_KEY_BUDGET_USD.',
    })
  const hardLimitNano = nanoOf(maxUsd > 0 ? Math.min(usd, maxUsd) : usd)
  return gateway.use('keys').onCreated(async ({ id, orgId, label }) => {
    const budget = { scope: 'key', entityId: id, entityLabel: label, window, hardLimitNano, enabled: true } as const
    await view.write(
      (db) => insertBudget(db, orgId, budget, gateway.clock.now()),
      (row) => [row.id],
    )
  })
}
