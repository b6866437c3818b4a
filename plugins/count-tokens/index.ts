// Counts tokens (/v1/messages/count_tokens, :countTokens) with a flagged local estimate when the target cannot count for this caller. A
// target that can is called through the normal pipeline.
import { estimateRequest } from '../../core/models/token-estimate.ts'
import { definePlugin } from '../../core/plugins/define.ts'
import type { CanonicalRequest, Dialect, Frozen } from '../../core/types/canonical.ts'
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
          return estimate(ctx.request, ctx.dialect)
        }
      },
      { operation: 'count_tokens' },
    )
  },
})

function estimate(request: Frozen<CanonicalRequest>, dialect: Dialect): Result {
  const tokens = estimateRequest(request)
  const answer = dialect === 'generate_content' ? { totalTokens: tokens } : { input_tokens: tokens }
  const body = new TextEncoder().encode(JSON.stringify(answer))
  return { kind: 'raw', status: 200, headers: ['content-type', 'application/json; charset=utf-8'], body }
}

export default countTokens
