// Limits the tokens of each end user (`x-gateway-user-id`) per day. Replicas share the counters when Redis is configured.
import { definePlugin, GatewayError } from 'hookgate'
import { z } from 'zod'

const DAY = 86_400_000

export const dailyQuota = definePlugin({
  name: 'daily-quota',
  config: z.object({ tokens: z.int().min(1) }),
  setup({ hook, counters }, { tokens }) {
    const keyOf = (userId: string) => `tokens:${userId}`
    hook('admit', async (ctx) => {
      if (ctx.userId === null) throw GatewayError.invalid('x-gateway-user-id', 'Send the header `x-gateway-user-id`.')
      // Adding 0 reads the window without changing it.
      const { total, endsInMs } = await counters.debit(keyOf(ctx.userId), 0, DAY)
      if (total >= tokens) throw GatewayError.rateLimited(`Your ${tokens} tokens of today are used up.`, endsInMs)
    })
    hook('settled', async (ctx, { usage }) => {
      if (ctx.userId !== null && usage.total > 0) await counters.debit(keyOf(ctx.userId), usage.total, DAY)
    })
  },
})
