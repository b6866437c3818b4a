// Provider connections from gateway.config.ts, and the resolution of `<provider>/<model>` to a plan.

import type { ConfiguredConnection } from '../../core/config/connections.ts'
import { globMatch } from '../../core/lib/glob.ts'
import { definePlugin } from '../../core/plugins/define.ts'
import type { ConnectionService } from '../../core/services.ts'

/** Provides the service `connections` and resolves concrete model strings. */
export const connections = definePlugin({
  name: 'connections',
  setup(gateway) {
    const configuration = gateway.use('configuration')
    const canonical = configuration.providerId
    const byProvider = new Map<string, ConfiguredConnection[]>()
    for (const entry of configuration.connections) {
      if (!entry.enabled) continue
      const { provider } = entry.connection
      byProvider.set(provider, [...(byProvider.get(provider) ?? []), entry])
    }
    for (const list of byProvider.values()) list.sort((a, b) => a.connection.priority - b.connection.priority)
    const secrets = new Map(configuration.connections.map(({ connection, secret }) => [connection.id, secret]))

    const unrestricted = new Map(
      [...byProvider]
        .filter(([, list]) => list.every(({ connection }) => connection.allowedModels.length === 0))
        .map(([id, list]) => [id, list.map(({ connection }) => connection)]),
    )

    const service: ConnectionService = {
      list: (provider, model) =>
        unrestricted.get(canonical(provider)) ??
        (byProvider.get(canonical(provider)) ?? [])
          .map(({ connection }) => connection)
          .filter(({ allowedModels }) => allowedModels.length === 0 || allowedModels.some((glob) => globMatch(glob, model))),
      knows: (provider) => byProvider.has(canonical(provider)),
      secretOf: (connection) => secrets.get(connection.id) ?? null,
    }
    gateway.provide('connections', service)

    gateway.hook(
      'resolve',
      (ctx) => {
        const slash = ctx.requestedModel.indexOf('/')
        if (slash <= 0 || slash === ctx.requestedModel.length - 1) return undefined
        const provider = ctx.requestedModel.slice(0, slash)
        if (!service.knows(provider)) return undefined
        const model = ctx.requestedModel.slice(slash + 1)
        return {
          targets: [{ provider: canonical(provider), model, connectionId: null, weight: 1 }],
          strategy: 'direct',
          virtualModel: null,
        }
      },
      { order: 'post' },
    )
  },
})

export default connections
