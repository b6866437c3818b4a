// The driver for OpenRouter: GET /key returns the key's usage and limit in USD (openrouter.ai/docs, "Get current API key").
import { z } from 'zod'
import type { QuotaDriver } from './service.ts'

const usd = z.number()
const answer = z.object({
  data: z.object({
    usage: usd,
    limit: usd.nullish(),
    limit_remaining: usd.nullish(),
    is_free_tier: z.boolean().nullish(),
  }),
})

export const openrouter: QuotaDriver = {
  provider: 'openrouter',
  async read(get) {
    const { body } = await get('/key')
    const { data } = answer.parse(JSON.parse(new TextDecoder().decode(body)))
    const { limit, limit_remaining: remaining, usage } = data
    const plan = data.is_free_tier == null ? null : data.is_free_tier ? 'free' : 'paid'
    // A key without a limit uses its account's credits, which this answer does not contain.
    if (limit == null || remaining == null) return { plan, windows: [] }
    return {
      plan,
      windows: [
        {
          name: 'key',
          unit: 'usd',
          model: null,
          used: usage,
          limit,
          remaining: Math.max(0, remaining),
          resetsAt: null,
          exhausted: remaining <= 0,
        },
      ],
    }
  },
}
