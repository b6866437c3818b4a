// Restricts requests with `x-data-region: eu` to the connections that you list. Others are skipped, with the reason in the attempt
// timeline.
import { definePlugin, GatewayError } from 'hookgate'
import { z } from 'zod'

export const euOnly = definePlugin({
  name: 'eu-only',
  config: z.object({ providers: z.array(z.string()).min(1) }),
  setup({ hook }, { providers }) {
    hook('candidates', (ctx, candidates) => {
      if (ctx.headers.get('x-data-region') !== 'eu') return candidates
      const kept = candidates.filter(({ connection }) => providers.includes(connection.provider))
      for (const candidate of candidates) if (!kept.includes(candidate)) ctx.skip(candidate, 'not_allowed')
      if (kept.length === 0) throw GatewayError.forbidden(`\`${ctx.requestedModel}\` has no provider in the EU.`)
      return kept
    })
  },
})
