// Sends a request to another model when the caller sends a header: `x-tier: premium`.
import { definePlugin } from 'hookgate'
import { z } from 'zod'

export const routeByHeader = definePlugin({
  name: 'route-by-header',
  config: z.object({
    header: z.string().default('x-tier'),
    /** Model name by value of the header: `{ premium: 'anthropic/claude-sonnet-4-5' }`. */
    models: z.record(z.string(), z.string().regex(/^[^/]+\/.+$/, 'must be `provider/model`')),
  }),
  setup(gateway, { header, models }) {
    gateway.hook(
      'resolve',
      (ctx) => {
        const [provider, ...model] = (models[ctx.headers.get(header) ?? ''] ?? '').split('/')
        // undefined: the next handler decides, and finally the gateway itself.
        if (!provider) return undefined
        return {
          targets: [{ provider, model: model.join('/'), connectionId: null, weight: 1 }],
          strategy: 'route-by-header',
          virtualModel: null,
        }
      },
      { order: 'pre' },
    )
  },
})
