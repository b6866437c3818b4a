// Where a connection's provider lists its models: the cheapest thing to ask, which books nothing.
import type { PluginGateway } from '../../core/types/plugin.ts'
import type { Connection } from '../../core/types/provider.ts'

const PATHS = { chat: '/models', responses: '/models', messages: '/v1/models', generate_content: '/v1beta/models' } as const
const TIMEOUT_MS = 10_000
const NO_SUCH_LIST = 404

/** Provides `modelListProbe`, for those who watch over accounts. */
export function provideModelList(gateway: PluginGateway): void {
  const configuration = gateway.use('configuration')
  const sideCalls = gateway.use('sideCalls')
  gateway.provide('modelListProbe', {
    async status(connection: Connection) {
      const provider = configuration.provider(connection.provider)
      // A local provider has nobody to ask.
      if (provider.answer !== undefined && connection.baseUrl === null) return NO_SUCH_LIST
      const dialect = connection.wireFormat ?? (Object.keys(provider.dialects)[0] as keyof typeof PATHS | undefined) ?? 'chat'
      return (await sideCalls.get(connection, PATHS[dialect], TIMEOUT_MS)).status
    },
  })
}
