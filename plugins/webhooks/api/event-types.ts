// GET /api/webhooks/event-types: the events that an endpoint can subscribe to, each with a sample.
import { z } from 'zod'
import type { PluginGateway } from '../../../core/types/plugin/plugin.ts'
import { EVENT_TYPES, kindOf } from '../events/catalog.ts'
import { sampleOf } from '../events/samples.ts'

export function eventTypeRoute(gateway: PluginGateway): void {
  gateway.api({
    method: 'GET',
    path: '/api/webhooks/event-types',
    summary: 'The events that an endpoint can subscribe to, each with a sample payload.',
    role: 'member',
    response: z.strictObject({
      data: z.array(
        z.strictObject({
          type: z.string(),
          default_on: z.boolean().describe('Sent to endpoints that name no event.'),
          at_most_once_secs: z.int().nullable().describe('Repetitions within this time are not sent; null: all are.'),
          sample: z.record(z.string(), z.unknown()).describe('A delivery in the format `standard`, with invented values.'),
        }),
      ),
    }),
    handler: () => ({
      data: EVENT_TYPES.map((type) => {
        const kind = kindOf(type)
        const interval = kind?.debounce?.ms ?? kind?.told?.ms ?? null
        return {
          type,
          default_on: kind?.defaultOn === true,
          at_most_once_secs: interval === null ? null : interval / 1000,
          sample: sampleOf(type),
        }
      }),
    }),
  })
}
