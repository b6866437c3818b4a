// One delivery with its event and its schedule, and the redelivery of many at once.
import { z } from 'zod'
import { conflict } from '../../../core/config/owned.ts'
import { notFound } from '../../../core/http/api-routes.ts'
import type { PluginGateway } from '../../../core/types/plugin/plugin.ts'
import { type AttemptRow, attemptsOf } from '../delivery/attempts.ts'
import type { Dispatcher } from '../delivery/dispatcher.ts'
import { requeueAll, undelivered } from '../delivery/redeliver.ts'
import { eventBody, findDelivery } from '../delivery/store.ts'
import { upcomingAttempts } from '../delivery/upcoming.ts'
import { findEndpoint } from '../store.ts'
import { deliveryRecord, deliveryRecordOf, idParams } from './fields.ts'

/** Deliveries that one call queues again. */
const MOST = 1000

const attemptRecord = z.strictObject({
  at: z.iso.datetime(),
  status: z.int().nullable().describe('HTTP status of the answer; null when there was none.'),
  error: z.string().nullable(),
  duration_ms: z.int(),
})

const detail = deliveryRecord.extend({
  envelope: z
    .record(z.string(), z.unknown())
    .nullable()
    .describe('The event as an endpoint of the format `standard` gets it; null when it is no longer stored.'),
  upcoming: z.array(z.iso.datetime()).describe('The attempts that follow, unless one of them succeeds.'),
  attempt_log: z.array(attemptRecord).describe('Attempts of every run of the schedule, oldest first; at most the newest 50.'),
})

const redeliverBody = z.strictObject({
  endpoint_id: z.string().regex(/^[0-9A-Za-z_-]{1,64}$/, 'must be the id of an endpoint'),
  since: z.iso
    .datetime({ offset: true, error: 'must be an RFC 3339 time such as 2027-01-31T00:00:00Z' })
    .describe('Deliveries that were made at this time or later.'),
  status: z.enum(['failed', 'dead'], 'must be `failed` or `dead`').optional().describe('Default: both.'),
})

export function deliveryDetailRoutes(gateway: PluginGateway, dispatcher: Dispatcher): void {
  const { clock, db } = gateway

  gateway.api({
    method: 'GET',
    path: '/api/webhooks/deliveries/:id',
    summary: 'One delivery with its event, its attempts and the time of the next one.',
    // An event may name keys and addresses that only administrators see.
    role: 'manage',
    params: idParams,
    response: detail,
    async handler({ params: { id }, orgId }) {
      const row = await findDelivery(db, orgId, id)
      if (row === undefined) throw notFound(`There is no webhook delivery ${id}.`)
      const [body, attempts] = await Promise.all([eventBody(db, row.event_id), attemptsOf(db, id)])
      const envelope = body === undefined ? null : (JSON.parse(body) as Record<string, unknown>)
      return {
        ...deliveryRecordOf(row),
        envelope,
        upcoming: upcomingAttempts(row).map((at) => new Date(at).toISOString()),
        attempt_log: attempts.map(attemptOf),
      }
    },
  })

  gateway.api({
    method: 'POST',
    path: '/api/webhooks/deliveries/redeliver',
    summary: `Queues the failed and dead deliveries of an endpoint again, the oldest first and at most ${MOST} in one call.`,
    role: 'manage',
    body: redeliverBody,
    response: z.strictObject({
      queued: z.int(),
      remaining: z.int().describe('Deliveries that fit and were not queued: call again.'),
    }),
    audit: 'webhook.redeliver',
    async handler({ body: { endpoint_id: id, since, status }, orgId, audited }) {
      const endpoint = await findEndpoint(db, orgId, id)
      if (endpoint === undefined) throw notFound(`There is no webhook endpoint ${id}.`)
      if (!endpoint.enabled) throw conflict('The endpoint is disabled; enable it first.', 'endpoint_disabled')
      const which = { endpointId: id, since: Date.parse(since), statuses: status === undefined ? BOTH : [status] }
      const queued = await requeueAll(db, orgId, which, MOST, clock.now())
      const remaining = await undelivered(db, orgId, which)
      audited(id, { queued, since, ...(status === undefined ? {} : { status }) })
      if (queued > 0) dispatcher.wake()
      return { queued, remaining }
    },
  })
}

const BOTH = ['failed', 'dead'] as const

function attemptOf({ at, status, error, duration_ms }: AttemptRow): z.input<typeof attemptRecord> {
  return { at: new Date(at).toISOString(), status, error, duration_ms }
}
