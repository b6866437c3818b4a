// Counts tokens (/v1/messages/count_tokens, /v1/responses/input_tokens, :countTokens) with a flagged local estimate when the target cannot count for this caller. A
// target that can is called through the normal pipeline.
import { GatewayError } from '../../core/errors/gateway-error.ts'
import { estimateRequest } from '../../core/models/token-estimate.ts'
import { definePlugin } from '../../core/plugins/define.ts'
import type { CanonicalRequest, Dialect, Frozen } from '../../core/types/request/canonical.ts'
import type { Result } from '../../core/types/request/result.ts'

export const countTokens = definePlugin({
  name: 'count-tokens',
  setup(gateway) {
    gateway.hook(
      'call',
      async (ctx, next) => {
        try {
          return await next()
        } catch (error) {
          if (!isUncounted(error, ctx.dialect)) throw error
          ctx.warn('estimated_tokens')
          return estimate(ctx.request, ctx.dialect)
        }
      },
      { operation: 'count_tokens' },
    )
  },
})

const ANSWERS: Readonly<Record<string, (tokens: number) => object>> = {
  generate_content: (tokens) => ({ totalTokens: tokens }),
  responses: (tokens) => ({ object: 'response.input_tokens', input_tokens: tokens }),
}

/** Few upstreams of the responses dialect have a route that counts. */
function isUncounted(error: unknown, dialect: Dialect): boolean {
  if (!GatewayError.is(error)) return false
  const status = error.upstream?.status
  return error.code === 'unsupported_for_target' || (dialect === 'responses' && (status === 404 || status === 405))
}

function estimate(request: Frozen<CanonicalRequest>, dialect: Dialect): Result {
  const tokens = estimateRequest(request)
  const answer = ANSWERS[dialect]?.(tokens) ?? { input_tokens: tokens }
  const body = new TextEncoder().encode(JSON.stringify(answer))
  return { kind: 'raw', status: 200, headers: ['content-type', 'application/json; charset=utf-8'], body }
}

export default countTokens
