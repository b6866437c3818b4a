// How fresh the prices are, in metrics and for /healthz. All processes show what one of them has fetched.
import type { View } from '../../core/types/db.ts'
import type { PluginGateway } from '../../core/types/plugin.ts'
import type { PricingStatus } from './service.ts'
import type { Stored } from './stored.ts'

export function showFreshness({ metrics }: PluginGateway, view: View<Stored>): PricingStatus {
  const succeeded = metrics.gauge('pricing_last_success_timestamp_seconds', 'When a rate card was fetched last; 0: never.')
  const models = metrics.gauge('pricing_models', 'Models of the rate card.')
  const open = metrics.gauge('pricing_drift_open', 'Price changes that are not reviewed.')
  const show = (stored: Stored): void => {
    succeeded.set((lastSuccess(stored) ?? 0) / 1000)
    models.set([...stored.book.values()].reduce((sum, found) => sum + found.size, 0))
    open.set(stored.driftOpen)
  }
  show(view.current)
  view.watch(show)
  return {
    summary() {
      const stored = view.current
      if (stored.lastRun === undefined) return null
      const at = lastSuccess(stored)
      return { ok: stored.lastRun.status !== 'failed', last_success_at: at === null ? null : new Date(at).toISOString() }
    },
  }
}

function lastSuccess({ sources }: Stored): number | null {
  const times = [...sources.values()].map(({ confirmedAt }) => confirmedAt)
  return times.length === 0 ? null : Math.max(...times)
}
