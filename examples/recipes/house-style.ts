// Adds a system prompt to every chat request, after the caller's own.
import { definePlugin } from 'hookgate'
import { z } from 'zod'

export const houseStyle = definePlugin({
  name: 'house-style',
  config: z.object({ text: z.string().min(1) }),
  setup(gateway, { text }) {
    gateway.hook(
      'request',
      (ctx) => {
        // edit() returns a copy and ends the byte lane: the request is encoded again for its upstream.
        const request = ctx.edit()
        if ('system' in request) request.system.push({ role: 'system', parts: [{ t: 'text', text }] })
      },
      { operation: 'chat' },
    )
  },
})
