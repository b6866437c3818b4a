// /api/webhooks/deliveries and test deliveries: list, inspect, redeliver.
import { z } from 'zod'
import { conflict } from '../../../core/config/owned.ts'
import { notFound } from '../../../core/http/api-routes.ts'
import type { PluginGateway } from '../../../core/types/plugin/plugin.ts'
import type { Dispatcher } from '../delivery/dispatcher.ts'
import { findDelivery, findDeliveryOf, listDeliveries, requeue } from '../delivery/store.ts'
import { TEST_EVENT } from '../events/catalog.ts'
import { envelopeOf, queueStatements } from '../queue.ts'
import { findEndpoint } from '../store.ts'
import { deliveryQuery, deliveryRecord, deliveryRecordOf, idParams } from './fields.ts'

export function deliveryRoutes(gateway: PluginGateway, dispatcher: Dispatcher): void {
  const { clock, db } = gateway

  gateway.api({
    method: 'GET',
    path: '/api/webhooks/deliveries',
    summary: 'Deliveries, newest first.',
    role: 'member',
    query: deliveryQuery,
    response: z.strictObject({ data: z.array(deliveryRecord), next_cursor: z.string().nullable() }),
    async handler({ query: { endpoint_id: endpointId, status, limit, cursor: before }, orgId }) {
      const rows = await listDeliveries(db, orgId, { endpointId, status, before }, limit + 1)
      const page = rows.slice(0, limit)
      return { data: page.map(deliveryRecordOf), next_cursor: rows.length > limit ? String(page.at(-1)?.seq) : null }
    },
  })

  gateway.api({
    method: 'POST',
    path: '/api/webhooks/deliveries/:id/redeliver',
    summary: 'Queues a failed or dead delivery again: the same event, from the start of the schedule.',
    role: 'manage',
    params: idParams,
    response: deliveryRecord,
    audit: 'webhook.redeliver',
    async handler({ params: { id }, orgId }) {
      const row = await findDelivery(db, orgId, id)
      if (row === undefined) throw notFound(`There is no webhook delivery ${id}.`)
      const endpoint = await findEndpoint(db, orgId, row.endpoint_id)
      if (endpoint === undefined) throw conflict('The endpoint of this delivery was removed.', 'endpoint_removed')
      if (!endpoint.enabled && row.event_type !== TEST_EVENT)
        throw conflict('The endpoint of this delivery is disabled; enable it first.', 'endpoint_disabled')
      const queued = await requeue(db, orgId, id, clock.now())
      if (queued === undefined) {
        const { status } = (await findDelivery(db, orgId, id)) ?? row
        throw conflict(`Only a failed or a dead delivery can be sent again; this one is ${status}.`, 'not_redeliverable')
      }
      dispatcher.wake()
      return deliveryRecordOf(queued)
    },
  })

  gateway.api({
    method: 'POST',
    path: '/api/webhooks/endpoints/:id/test',
    summary: 'Sends a signed event `webhook.test` to this endpoint once, also when it is disabled, and returns the result.',
    role: 'manage',
    params: idParams,
    response: deliveryRecord,
    audit: 'webhook.test',
    async handler({ params: { id }, orgId, operator }) {
      const endpoint = await findEndpoint(db, orgId, id)
      if (endpoint === undefined) throw notFound(`There is no webhook endpoint ${id}.`)
      const now = clock.now()
      const data = { endpoint_id: id, message: 'A test event, asked for by an operator.', requested_by: operator.actor }
      const envelope = envelopeOf({ type: TEST_EVENT, orgId, data }, now)
      const lease = dispatcher.lease()
      await db.atomic(queueStatements(envelope, [id], now, { lease }))
      const queued = await findDeliveryOf(db, envelope.id)
      await dispatcher.send(queued.id, lease)
      return deliveryRecordOf(await findDeliveryOf(db, envelope.id))
    },
  })
}
