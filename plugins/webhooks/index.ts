// Webhook endpoints as rows, from gateway.config.ts (SPEC "Webhook endpoint").
import { definePlugin } from '../../core/plugins/define.ts'
import { migrations } from './migrations.ts'
import { webhookResource } from './resource.ts'
import type { WebhookEndpoint } from './service.ts'
import { type EndpointRow, livingEndpoints } from './store.ts'

/** Provides the service `webhooks`. */
export const webhooks = definePlugin({
  name: 'webhooks',
  migrations,
  async setup(gateway) {
    const view = await gateway.view('living', async (db) => (await livingEndpoints(db)).map(endpointOf))
    gateway.provide('webhooks', {
      list: (orgId) => view.current.filter((endpoint) => endpoint.orgId === orgId),
      get: (orgId, id) => view.current.find((endpoint) => endpoint.id === id && endpoint.orgId === orgId) ?? null,
    })
    gateway.resource(webhookResource(gateway as never, view))
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
