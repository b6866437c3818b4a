// Sends webhooks: events go to an outbox of rows, and are then sent, signed, to the subscribed endpoints.
import { z } from 'zod'
import { definePlugin } from '../../core/plugins/define.ts'
import { deliveryRoutes } from './api/deliveries.ts'
import { deliveryDetailRoutes } from './api/delivery-detail.ts'
import { endpointRoutes } from './api/endpoints.ts'
import { eventTypeRoute } from './api/event-types.ts'
import { endpointFacts } from './attention.ts'
import { sender } from './delivery/attempt.ts'
import { autoDisable } from './delivery/auto-disable.ts'
import { deliverer } from './delivery/delivery.ts'
import { Dispatcher } from './delivery/dispatcher.ts'
import { webhookMetrics } from './delivery/metrics.ts'
import { prune } from './delivery/prune.ts'
import { bridge, requestEvent } from './events/request-events.ts'
import { SpendBatches } from './events/spend.ts'
import { migrations } from './migrations.ts'
import { outbox as outboxOf } from './outbox.ts'
import { portableWebhooks } from './portable.ts'
import { type UrlRules, webhookResource } from './resource.ts'
import type { WebhookEndpoint } from './service.ts'
import { activeEndpoints, type EndpointRow } from './store.ts'

const HOUR_MS = 3_600_000

/** Provides the services `webhooks` and `outbox`. */
export const webhooks = definePlugin({
  name: 'webhooks',
  requires: ['outbound', 'outboundPost'],
  config: z.strictObject({
    /** Endpoints on this host are refused, because they would be the gateway itself. */
    publicUrl: z.string().nullable().default(null).meta({ env: 'PUBLIC_URL' }),
  }),
  migrations,
  async setup(gateway, { publicUrl }) {
    const { clock, db } = gateway
    const rules: UrlRules = { profile: gateway.profile, outbound: gateway.use('outbound'), publicUrl }
    const view = await gateway.view('living', async (from) => (await activeEndpoints(from)).map(endpointOf))
    gateway.provide('webhooks', {
      list: (orgId) => view.current.filter((endpoint) => endpoint.orgId === orgId),
      get: (orgId, id) => view.current.find((endpoint) => endpoint.id === id && endpoint.orgId === orgId) ?? null,
    })
    gateway.resource(webhookResource(gateway, view, rules))
    gateway.portable(portableWebhooks(gateway, view, rules))

    const metrics = webhookMetrics(gateway)
    const outbox = outboxOf({ gateway, endpoints: () => view.current, queued: () => dispatcher.wake() })
    const failed = autoDisable({ gateway, view, outbox, metrics })
    const dispatcher: Dispatcher = new Dispatcher({
      gateway,
      deliver: deliverer({ gateway, send: sender(gateway, rules), metrics, failed }),
      active: () => view.current.length > 0,
    })
    gateway.provide('outbox', outbox)
    endpointRoutes(gateway, view, rules)
    deliveryRoutes(gateway, dispatcher)
    deliveryDetailRoutes(gateway, dispatcher)
    eventTypeRoute(gateway)

    bridge(gateway, outbox)
    const spend = new SpendBatches(gateway, outbox)
    gateway.hook(
      'settle',
      (ctx, outcome, unit) => {
        spend.add(ctx, outcome)
        const event = requestEvent(ctx, outcome, clock.now())
        const statements = event === null ? [] : outbox.statements(event)
        if (statements.length === 0) return
        unit.add(...statements)
        unit.afterCommit(() => dispatcher.wake())
      },
      // A failure here does not affect the booking of the request's cost.
      { order: 'post', onError: 'open' },
    )
    gateway.every('retention', HOUR_MS, (signal) => prune(db, clock.now(), signal), { once: true })

    const silence = gateway.use('attention').contribute('webhooks', endpointFacts(db))
    return async () => {
      silence()
      await spend.close()
      await dispatcher.close()
    }
  },
})

function endpointOf(row: EndpointRow): WebhookEndpoint {
  return {
    id: row.public_id,
    orgId: row.org_id === 0 ? null : row.org_id,
    url: row.url,
    eventTypes: row.event_types,
    format: row.format,
    enabled: row.enabled,
    managedBy: row.managed_by,
    configKey: row.config_key,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  }
}

export default webhooks
