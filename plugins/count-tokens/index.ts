// /v1/messages/count_tokens where the target does not speak messages: a local estimate, flagged as one.
// A messages target is asked itself, by the ordinary pipeline.
import { estimateRequest } from '../../core/lib/token-estimate.ts'
import { definePlugin } from '../../core/plugins/define.ts'
import type { CanonicalRequest, Frozen } from '../../core/types/canonical.ts'
import type { Result } from '../../core/types/result.ts'

export const countTokens = definePlugin({
  name: 'count-tokens',
  setup(gateway) {
    gateway.hook(
      'call',
      async (ctx, next) => {
        try {
          return await next()
        } catch (error) {
          if ((error as { code?: string }).code !== 'unsupported_for_target') throw error
          ctx.warn('estimated_tokens')
          return estimate(ctx.request as Frozen<CanonicalRequest>)
        }
      },
      { when: (ctx) => ctx.operation === 'count_tokens' },
    )
  },
})

function estimate(request: Frozen<CanonicalRequest>): Result {
  const body = new TextEncoder().encode(JSON.stringify({ input_tokens: estimateRequest(request) }))
  return { kind: 'raw', status: 200, headers: ['content-type', 'application/json; charset=utf-8'], body }
}

export default countTokens
