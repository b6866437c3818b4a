// Answers with a fixed text when every upstream has failed, so that a chat page shows a sentence and not an error.
import { asStream, definePlugin, GatewayError, noUsage } from 'hookgate'
import type { CanonicalResponse, Result } from 'hookgate/core'
import { z } from 'zod'

export const cannedAnswer = definePlugin({
  name: 'canned-answer',
  config: z.object({ text: z.string().default('We cannot answer at the moment. Please try again in a few minutes.') }),
  setup({ hook, clock, log }, { text }) {
    hook('call', async (ctx, next) => {
      try {
        return await next()
      } catch (error) {
        if (!GatewayError.is(error) || error.status < 500 || ctx.operation !== 'chat') throw error
        log.warn('canned_answer', { requestId: ctx.id, status: error.status })
        ctx.warn('canned_answer')
        const response: CanonicalResponse = {
          id: ctx.id,
          created: Math.floor(clock.now() / 1000),
          model: ctx.requestedModel,
          choices: [{ index: 0, parts: [{ t: 'text', text }], finish: 'stop', nativeFinish: 'stop' }],
          usage: noUsage(),
          ext: {},
        }
        const answer: Result = { kind: 'full', response }
        return ctx.stream ? asStream(answer) : answer
      }
    })
  },
})
