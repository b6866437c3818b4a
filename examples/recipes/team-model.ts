// Gives each team its own model under one name: `team/default` becomes the model of the caller's key.
import { definePlugin, GatewayError } from 'hookgate'
import { z } from 'zod'

export const teamModel = definePlugin({
  name: 'team-model',
  config: z.object({
    name: z.string().default('team/default'),
    /** Provider and model by the label of the client key. */
    teams: z.record(z.string(), z.object({ provider: z.string(), model: z.string() })),
  }),
  setup(gateway, { name, teams }) {
    gateway.hook(
      'resolve',
      (ctx) => {
        if (ctx.requestedModel !== name) return undefined
        const team = teams[ctx.principal.label ?? '']
        if (team === undefined)
          throw GatewayError.invalid('model', `\`${name}\` is not set for the key \`${ctx.principal.label ?? 'anonymous'}\`.`)
        return { targets: [{ ...team, connectionId: null, weight: 1 }], strategy: 'team', virtualModel: null }
      },
      { order: 'pre' },
    )
  },
})
