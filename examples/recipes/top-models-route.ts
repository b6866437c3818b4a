// A route of the control plane: `GET /api/top-models` counts requests by model since the start of this process.
import { definePlugin } from 'hookgate'
import { z } from 'zod'

export const topModelsRoute = definePlugin({
  name: 'top-models',
  config: z.object({ most: z.int().min(1).default(1000) }),
  setup(gateway, { most }) {
    const counts = new Map<string, number>()
    gateway.hook('settled', (_ctx, { steps }) => {
      for (const { provider, model } of steps) {
        const name = `${provider}/${model}`
        // Limited, because callers choose the names.
        if (counts.has(name) || counts.size < most) counts.set(name, (counts.get(name) ?? 0) + 1)
      }
    })
    gateway.api({
      method: 'GET',
      path: '/api/top-models',
      summary: 'Requests by model since the start.',
      query: z.strictObject({ limit: z.coerce.number().int().min(1).max(100).default(10) }),
      response: z.strictObject({ data: z.array(z.strictObject({ model: z.string(), requests: z.int() })) }),
      handler({ query }) {
        const sorted = [...counts].sort(([, a], [, b]) => b - a).slice(0, query.limit)
        return { data: sorted.map(([model, requests]) => ({ model, requests })) }
      },
    })
  },
})
