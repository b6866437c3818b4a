import { definePlugin, defineProvider } from 'hookgate'
import { z } from 'zod'

export const small = definePlugin({
  name: 'small-provider',
  config: z.strictObject({
    /** The base URL of the server. */
    baseUrl: z.url(),
  }),
  offers: ({ baseUrl }) => ({
    providers: [
      defineProvider({
        id: 'small',
        baseUrl,
        dialects: { chat: '' },
        needsKey: true,
        caps: () => ({ family: 'small', context: 32_000, maxOutput: 4096 }),
        dialectFor: () => 'chat',
        authorize(wire, _dialect, secret) {
          wire.headers.push('x-small-key', secret ?? '')
        },
      }),
    ],
  }),
  setup() {},
})

export default small
