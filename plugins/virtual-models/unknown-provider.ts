// The message for a target with an unknown provider, in the file and in the API.
import type { Connection } from '../../core/types/provider.ts'

export function unknownProvider(provider: string, connections: Iterable<Connection>): string {
  for (const connection of connections)
    if (connection.label === provider)
      return `\`${provider}\` is what a connection is called. Targets begin with its provider: \`${connection.provider}/<model>\`.`
  return `\`${provider}\` is neither in the provider registry nor a provider of a connection.`
}
