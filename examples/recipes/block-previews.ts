// Refuses preview models, before the request costs anything.
import { definePlugin, GatewayError, globMatch } from 'hookgate'
import { z } from 'zod'

export const blockPreviews = definePlugin({
  name: 'block-previews',
  config: z.object({ models: z.array(z.string()).default(['*-preview', '*-preview-*', '*-exp']) }),
  setup(gateway, { models }) {
    gateway.hook('access', ({ requestedModel }) => {
      const glob = models.find((pattern) => globMatch(pattern, requestedModel))
      if (glob !== undefined)
        throw GatewayError.forbidden(`\`${requestedModel}\` is a preview model (\`${glob}\`). Use a released one.`)
    })
  },
})
