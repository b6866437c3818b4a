// Serves the connections of the configuration from memory, for gateways without a database: no API, no rows, no other sources.
import type { Configuration } from '../../core/config/configuration.ts'
import { definePlugin } from '../../core/plugins/define.ts'
import type { ConnectionService } from '../../core/services.ts'
import { globMatch } from '../../core/text/glob.ts'

/** Provides the service `connections`, and resolves `<provider>/<model>`. */
export const declaredConnections = definePlugin({
  name: 'declared-connections',
  setup(gateway) {
    const configuration = gateway.use('configuration')
    const connections = directory(configuration)
    gateway.provide('connections', connections)
    gateway.hook(
      'resolve',
      (ctx) => {
        const slash = ctx.requestedModel.indexOf('/')
        const provider = ctx.requestedModel.slice(0, slash)
        const model = ctx.requestedModel.slice(slash + 1)
        if (slash <= 0 || model === '' || !connections.knows(provider)) return undefined
        return {
          targets: [{ provider: configuration.providerId(provider), model, connectionId: null, weight: 1 }],
          strategy: 'direct',
          virtualModel: null,
        }
      },
      { order: 'post' },
    )
  },
})

function directory({ connections, providerId }: Configuration): ConnectionService {
  const entries = connections
    .filter(({ enabled }) => enabled)
    .sort((a, b) => a.connection.priority - b.connection.priority || (a.connection.id < b.connection.id ? -1 : 1))
  return {
    list: (provider, model) =>
      entries
        .map(({ connection }) => connection)
        .filter((one) => one.provider === providerId(provider))
        .filter(({ allowedModels }) => allowedModels.length === 0 || allowedModels.some((glob) => globMatch(glob, model))),
    knows: (provider) => entries.some(({ connection }) => connection.provider === providerId(provider)),
    secretOf: ({ id }) => entries.find(({ connection }) => connection.id === id)?.secret ?? null,
  }
}
