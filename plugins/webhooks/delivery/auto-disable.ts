// Disables an endpoint after five days of failures without one success, and notifies the others.

import type { PluginGateway } from '../../../core/types/plugin/plugin.ts'
import type { View } from '../../../core/types/ports/db.ts'
import type { FullOutbox } from '../outbox.ts'
import { disableFailing } from '../store.ts'
import type { WebhookMetrics } from './metrics.ts'
import type { Job } from './store.ts'

export const FAILING_LIMIT_MS = 5 * 24 * 3_600_000

export interface AutoDisableParts {
  readonly gateway: PluginGateway
  readonly view: View<unknown>
  readonly outbox: FullOutbox
  readonly metrics: WebhookMetrics
}

/** Call it after a failed delivery. */
export function autoDisable({ gateway, view, outbox, metrics }: AutoDisableParts): (job: Job) => Promise<void> {
  const { clock, log } = gateway
  return async (job) => {
    const now = clock.now()
    const { endpoint_row: id, endpoint_id, failing_since: since, url, org_id } = job
    if (id === null || since === null || now - since < FAILING_LIMIT_MS) return
    const told = outbox.statementsWithout(endpoint_id, {
      type: 'webhook.endpoint_auto_disabled',
      orgId: org_id === 0 ? null : org_id,
      data: { endpoint_id, url, failing_since: new Date(since).toISOString(), disabled_at: new Date(now).toISOString() },
      occurredAt: now,
    })
    const disabled = await view.write(async (db) => {
      if (!(await disableFailing(db, id, now - FAILING_LIMIT_MS, now))) return false
      for (const { sql } of told) await db.run(sql)
      return true
    })
    if (!disabled) return
    metrics.autoDisabled()
    log.warn('webhooks.endpoint_disabled', { endpoint: endpoint_id, failing_since: new Date(since).toISOString() })
  }
}
