// Limits the concurrent requests of one client key, across all replicas when Redis is configured.
import { definePlugin, GatewayError } from 'hookgate'
import { z } from 'zod'

export const parallelLimit = definePlugin({
  name: 'parallel-limit',
  config: z.object({ perKey: z.int().min(1).default(10) }),
  setup({ hook, counters }, { perKey }) {
    hook('admit', async (ctx) => {
      const slot = await counters.acquire(`key:${ctx.principal.keyId ?? 'anonymous'}`, perKey, 600_000)
      if (!slot.ok) throw GatewayError.rateLimited(`At most ${perKey} requests of a key run at a time.`, 1000)
      // A lease is settled exactly once, however the request ends: answered, refused, failed or aborted.
      ctx.hold({ settle: () => slot.release() })
    })
  },
})
