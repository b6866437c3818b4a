// Calls the same account once more after a 503, with a short pause. Without it, a 503 moves on to the next account.
import { definePlugin, GatewayError } from 'hookgate'
import { z } from 'zod'

export const retryOnce = definePlugin({
  name: 'retry-once',
  config: z.object({ pauseMs: z.int().min(0).default(200) }),
  setup({ hook, clock, metrics }, { pauseMs }) {
    const retries = metrics.counter('retry_once_total', 'Calls that were repeated after a 503.', ['provider'])
    hook('attempt', async (_ctx, candidate, next) => {
      try {
        return await next()
      } catch (error) {
        if (!GatewayError.is(error) || error.status !== 503) throw error
        retries.inc({ provider: candidate.connection.provider })
        await clock.sleep(pauseMs)
        return next()
      }
    })
  },
})
