// POST /v1/completions on models that only chat: each prompt becomes one chat call, with everything that a chat call has.
import { routeIsMissing, vendorServes } from '../../core/calls/vendor-serves.ts'
import { definePlugin } from '../../core/plugins/define.ts'
import type { RequestContext } from '../../core/types/request/context.ts'
import type { Result } from '../../core/types/request/result.ts'
import { chatRequests } from './chat-request.ts'
import { streamedAnswer } from './streamed.ts'
import { wholeAnswer } from './whole.ts'

export const completions = definePlugin({
  name: 'completions',
  requires: ['configuration', 'connections'],
  setup(gateway) {
    const native = vendorServes('completions', 'chat', gateway.use('configuration').providers, gateway.use('connections'))
    const now = () => Math.floor(gateway.clock.now() / 1000)

    const viaChat = (ctx: RequestContext<'completions'>): Promise<Result> => {
      const requests = chatRequests(ctx)
      const call = (index: number) =>
        gateway.invoke(requests[index] as (typeof requests)[number], {
          operation: 'chat',
          source: ctx.source,
          parent: ctx,
          warns: true,
        })
      const asked = { request: ctx.request, model: ctx.requestedModel, count: requests.length, created: now(), call }
      return ctx.request.stream ? streamedAnswer(asked) : wholeAnswer(asked)
    }

    gateway.hook(
      'request',
      (ctx) => {
        if (!native(ctx)) chatRequests(ctx)
      },
      { operation: 'completions' },
    )
    gateway.hook(
      'call',
      (ctx, next) => {
        if (!native(ctx)) return viaChat(ctx)
        return next().catch((error: unknown) => {
          if (routeIsMissing(ctx)) return viaChat(ctx)
          throw error
        })
      },
      { operation: 'completions' },
    )
  },
})

export default completions
