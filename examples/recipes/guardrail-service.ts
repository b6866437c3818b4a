// Asks your own service whether a prompt may be sent. When the service does not answer, the request is refused.
import { definePlugin, GatewayError } from 'hookgate'
import { z } from 'zod'

export const guardrailService = definePlugin({
  name: 'guardrail-service',
  config: z.object({ url: z.url(), timeoutMs: z.int().min(10).default(500) }),
  setup(gateway, { url, timeoutMs }) {
    gateway.hook(
      'request',
      async (ctx) => {
        if (!('messages' in ctx.request)) return
        const texts = ctx.request.messages.flatMap(({ parts }) => parts.flatMap((part) => (part.t === 'text' ? [part.text] : [])))
        const verdict = await gateway
          .internalHttp<{ allowed: boolean; rule?: string }>(url, {
            method: 'POST',
            body: { request_id: ctx.id, text: texts.join('\n') },
            timeout: timeoutMs,
            retry: 0,
            signal: ctx.signal,
          })
          .catch((error) => {
            gateway.log.warn('guardrail.unavailable', { requestId: ctx.id, error: String(error) })
            throw GatewayError.unavailable('The guardrail service does not answer. Try again in a moment.')
          })
        if (!verdict.allowed) throw GatewayError.blocked(verdict.rule ?? 'guardrail-service')
      },
      { operation: 'chat' },
    )
  },
})
