// Schemas of an endpoint's members in /api/webhooks.
import { z } from 'zod'
import { FAILING_LIMIT_MS } from '../delivery/auto-disable.ts'
import type { RecentDeliveries } from '../delivery/recent.ts'
import type { DeliveryRow } from '../delivery/store.ts'
import { EVENT_TYPES } from '../events/catalog.ts'
import { endpointUrl, eventType, type UrlRules } from '../resource.ts'
import { DELIVERY_STATUSES, FORMATS } from '../service.ts'
import type { EndpointRow } from '../store.ts'

const ALL_OR_SOME = `Empty: every event that is on by default. Of: ${EVENT_TYPES.map((type) => `\`${type}\``).join(', ')}.`

export function endpointBodies(rules: UrlRules) {
  const fields = {
    url: endpointUrl(rules).describe('https, or http on the local profile; never an address inside.'),
    event_types: z.array(eventType).max(100).describe(ALL_OR_SOME),
    format: z
      .enum(FORMATS, 'must be `standard`, `slack` or `discord`')
      .describe('`standard`: the event itself. `slack`, `discord`: one line of text. All are signed.'),
    enabled: z.boolean(),
  }
  const { url, event_types, format, enabled } = fields
  return {
    create: z.strictObject({
      url,
      event_types: event_types.default([]),
      format: format.default('standard'),
      enabled: enabled.default(true),
    }),
    update: z.strictObject(fields).partial(),
  }
}

/** Id of an endpoint or a delivery; a malformed id is not found. */
export const idParams = z.object({ id: z.string().regex(/^[0-9A-Za-z_-]{1,64}$/) })

export const endpointRecord = z.strictObject({
  id: z.string(),
  url: z.string(),
  event_types: z.array(z.string()).describe(ALL_OR_SOME),
  format: z.enum(FORMATS),
  enabled: z.boolean().describe('False also after five days of failures; `true` in a PUT enables it again.'),
  secret_hint: z.string().nullable().describe('The last characters of the signing secret; null when it cannot be opened.'),
  failing_since: z.string().nullable().describe('The first failed attempt since the last success.'),
  disables_at: z.string().nullable().describe('When it is disabled unless an attempt succeeds before; null: it does not fail.'),
  auto_disabled_at: z.string().nullable(),
  recent: z
    .strictObject({ pending: z.int(), delivered: z.int(), failed: z.int(), dead: z.int() })
    .describe('Its deliveries of the last seven days, by status.'),
  managed_by: z.enum(['config', 'api']),
  config_key: z.string().nullable().describe('Its name in gateway.config.ts; null for rows of the API.'),
  created_at: z.string(),
  updated_at: z.string(),
})
export type EndpointRecord = z.input<typeof endpointRecord>

export const endpointWithSecret = endpointRecord.extend({
  secret: z.string().describe('The signing secret, shown this once: `whsec_` and base64.'),
})

export const deliveryRecord = z.strictObject({
  id: z.string(),
  endpoint_id: z.string(),
  event_id: z.string().describe('`webhook-id` of the delivery: the same for retries and redeliveries.'),
  event_type: z.string(),
  status: z
    .enum(DELIVERY_STATUSES)
    .describe(
      '`pending` while attempts remain; `dead` when the last retry failed; `failed` when it was given up before: the endpoint was disabled or removed, or it is a test, which is sent once.',
    ),
  attempts: z.int().describe('Of the current run of the schedule: a redelivery counts from the start.'),
  next_attempt_at: z.string().nullable(),
  last_status: z.int().nullable().describe('HTTP status of the last answer; null when there was none.'),
  last_error: z.string().nullable(),
  created_at: z.string(),
  delivered_at: z.string().nullable(),
})

const whole = z
  .string()
  .regex(/^\d{1,15}$/, 'must be a whole number')
  .transform(Number)

export const deliveryQuery = z.strictObject({
  endpoint_id: z.string().min(1, 'must not be empty').max(100).optional(),
  status: z.enum(DELIVERY_STATUSES, 'must be `pending`, `delivered`, `failed` or `dead`').optional(),
  limit: whole.pipe(z.number().min(1, 'must be at least 1').max(200, 'must be at most 200')).default(50),
  cursor: whole.optional().describe('`next_cursor` of the page before.'),
})

const time = (at: number | null): string | null => (at === null ? null : new Date(at).toISOString())

const NONE: RecentDeliveries = { pending: 0, delivered: 0, failed: 0, dead: 0 }

export function endpointRecordOf(row: EndpointRow, hint: string | null, recent: RecentDeliveries = NONE): EndpointRecord {
  return {
    id: row.public_id,
    url: row.url,
    event_types: row.event_types,
    format: row.format,
    enabled: row.enabled,
    secret_hint: hint,
    failing_since: time(row.failing_since),
    disables_at: row.enabled && row.failing_since !== null ? time(row.failing_since + FAILING_LIMIT_MS) : null,
    auto_disabled_at: time(row.auto_disabled_at),
    recent,
    managed_by: row.managed_by,
    config_key: row.config_key,
    created_at: new Date(row.created_at).toISOString(),
    updated_at: new Date(row.updated_at).toISOString(),
  }
}

export function deliveryRecordOf(row: DeliveryRow): z.input<typeof deliveryRecord> {
  return {
    id: row.id,
    endpoint_id: row.endpoint_id,
    event_id: row.event_id,
    event_type: row.event_type,
    status: row.status,
    attempts: row.attempts,
    next_attempt_at: time(row.next_attempt_at),
    last_status: row.last_status,
    last_error: row.last_error,
    created_at: new Date(row.created_at).toISOString(),
    delivered_at: row.status === 'delivered' ? time(row.finished_at) : null,
  }
}
