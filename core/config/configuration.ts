// Builds the service `configuration`: the content of gateway.config.ts, validated, with its secrets resolved.
import { sameOptions } from '../plugins/options.ts'
import type { ProviderTable } from '../providers.ts'
import type { Provider } from '../types/ports/provider.ts'
import { type ConfiguredConnection, configuredConnections } from './connections.ts'
import type { GatewayConfig } from './define.ts'
import { resolveSecret, type SecretRef, type SecretSources } from './secret.ts'

/** The configuration of one generation. A reload that changed something makes a new object. */
export interface Configuration {
  readonly connections: readonly ConfiguredConnection[]
  /** Returns the provider id of an id or alias. */
  providerId(idOrAlias: string): string
  /** Returns the provider of an id or alias. An id outside the registry is a custom provider. */
  provider(idOrAlias: string): Provider
  known(idOrAlias: string): boolean
  /** The registry, sorted by id. */
  readonly providers: readonly Provider[]
  /** Sections whose rows only the file may create. */
  readonly exclusive: readonly string[]
  /** Returns the value of a reference in the file. @throws Error naming `where` and the missing value. */
  secret(value: string | SecretRef, where: string): string
}

/** @throws Error naming the invalid entry of the file. */
export function configurationOf(
  config: GatewayConfig,
  providers: ProviderTable,
  sources: SecretSources,
  previous: Configuration | null,
): Configuration {
  const connections = configuredConnections(config, providers, sources)
  const exclusive = config.exclusive ?? []
  const unchanged =
    previous !== null &&
    sameOptions(previous.connections, connections) &&
    sameOptions(previous.exclusive, exclusive) &&
    sameOptions(previous.providers, providers.all)
  if (unchanged) return previous
  return {
    connections,
    exclusive,
    providers: providers.all,
    known: providers.known,
    provider: providers.find,
    secret: (value, where) => resolveSecret(value, sources, where),
    providerId: (id) => (providers.known(id) ? providers.find(id).id : id),
  }
}
