import { definePlugin } from 'hookgate'
import { z } from 'zod'

export const stamp = definePlugin({
  name: 'stamp',
  config: z.strictObject({
    /** The value of the header. */
    deployment: z.string().min(1),
    header: z.string().default('x-deployment'),
  }),
  setup(gateway, { deployment, header }) {
    gateway.hook('ingress', (ctx) => {
      ctx.responseHeaders.set(header, deployment)
    })
  },
})

export default stamp
