// GET /api/rate-limits: what keys use of their limits per minute now.
import { z } from 'zod'
import type { PluginGateway } from '../../core/types/plugin/plugin.ts'

const MOST = 200

const use = z
  .strictObject({ limit: z.int(), used: z.int().describe('In the last minute, rounded up.') })
  .nullable()
  .describe('null: the key has no such limit of its own.')

export function ratesRoute(gateway: PluginGateway): void {
  const keys = gateway.use('keys')
  const { counters } = gateway
  const usedOf = async (counter: string, limit: number | null) =>
    limit === null ? null : { limit, used: await counters.inMinute(counter) }

  gateway.api({
    method: 'GET',
    path: '/api/rate-limits',
    summary: 'How much of their limits per minute client keys use now. Without a shared store: of this process.',
    role: 'member',
    query: z.strictObject({
      key_id: z
        .string()
        .regex(/^[1-9]\d{0,14}(?:,[1-9]\d{0,14})*$/, 'must be ids of keys, separated by commas')
        .transform((text) => [...new Set(text.split(',').map(Number))])
        .refine((ids) => ids.length <= MOST, `must be at most ${MOST} ids`)
        .describe(`Up to ${MOST} ids, separated by commas. Unknown ones are left out.`),
    }),
    response: z.strictObject({
      data: z.array(z.strictObject({ key_id: z.int(), requests_per_minute: use, tokens_per_minute: use })),
    }),
    async handler({ query, orgId }) {
      const mine = query.key_id.flatMap((id) => keys.get(orgId, id) ?? [])
      const data = mine.map(async ({ id, rateLimitRpm, rateLimitTpm }) => ({
        key_id: id,
        requests_per_minute: await usedOf(`rpm:${id}`, rateLimitRpm),
        tokens_per_minute: await usedOf(`tpm:${id}`, rateLimitTpm),
      }))
      return { data: await Promise.all(data) }
    },
  })
}
