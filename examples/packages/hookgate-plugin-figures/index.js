import { definePlugin } from 'hookgate'
import { z } from 'zod'

export const figures = definePlugin({
  name: 'figures',
  setup(gateway) {
    const answers = new Map()
    gateway.hook('settled', (ctx, { status }) => {
      if (status === 200) answers.set(ctx.requestedModel, (answers.get(ctx.requestedModel) ?? 0) + 1)
    })
    gateway.api({
      method: 'GET',
      path: '/api/figures',
      summary: 'Answers since the start, by requested model.',
      response: z.strictObject({ data: z.array(z.strictObject({ model: z.string(), answers: z.int() })) }),
      handler: () => ({ data: [...answers].map(([model, count]) => ({ model, answers: count })) }),
    })
  },
})

export default figures
