// Metrics of deliveries.
import type { PluginGateway } from '../../../core/types/plugin/plugin.ts'
import type { DeliveryStatus } from '../service.ts'
import { pendingCount } from './store.ts'

export interface WebhookMetrics {
  /** State of a delivery after an attempt; one that will be retried counts as failed. */
  attempt(status: DeliveryStatus): void
  autoDisabled(): void
}

export function webhookMetrics({ metrics, db, log }: PluginGateway): WebhookMetrics {
  const deliveries = metrics.counter(
    'webhook_deliveries_total',
    'Attempts to deliver an event: delivered; failed, to be tried again or given up; dead, the last retry failed.',
    ['status'],
  )
  // Starts at 0 with the first scrape, because a rate needs the first increase, too.
  for (const status of ['delivered', 'failed', 'dead']) deliveries.inc({ status }, 0)
  const disabled = metrics.counter('webhook_endpoints_auto_disabled_total', 'Endpoints disabled after five days of failures.')
  const pending = metrics.gauge(
    'webhook_deliveries_pending',
    'Deliveries that wait for their first attempt or a retry.',
    [],
    'max',
  )
  const collect = async (): Promise<void> => {
    try {
      pending.set(await pendingCount(db))
    } catch (error) {
      log.debug('webhooks.not_counted', { error: String(error) })
    }
  }
  Object.assign(pending, { collect })
  return {
    attempt: (status) => deliveries.inc({ status: status === 'pending' ? 'failed' : status }),
    autoDisabled: () => disabled.inc(),
  }
}
