// Looks up providers by id and alias. An unregistered id is a custom provider: its connection declares its dialect.

import { type ClientVersions, withVersion } from './client-versions.ts'
import { memoize } from './collections/memoize.ts'
import type { GatewayConfig } from './config/define.ts'
import type { Ports } from './types/gateway.ts'
import type { Provider } from './types/ports/provider.ts'
import type { ModelCaps } from './types/request/dialect.ts'

export interface ProviderTable {
  find(id: string): Provider
  known(id: string): boolean
  /** Sorted by id, without custom providers. */
  readonly all: readonly Provider[]
}

/** Returns facts by the family in a model's name; null: the name shows no family. */
export type FamilyCaps = (model: string) => ModelCaps | null

/**
 * Returns the providers that a configuration offers: built-in ones, those of plugins and its own. A provider for trying things out is offered on the local
 * profile. On other profiles it is offered only when the configuration has a connection to it.
 */
export function offeredProviders(
  ports: Pick<Ports, 'providers' | 'modelCaps'>,
  { providers = [], connections = {} }: Pick<GatewayConfig, 'providers' | 'connections'>,
  profile: 'local' | 'cloud',
  ofPlugins: readonly Provider[] = [],
  versions: ClientVersions = new Map(),
): ProviderTable {
  const named = new Set(Object.values(connections).map(({ provider }) => provider))
  const offered = ports.providers.filter(({ id, forTrial }) => forTrial !== true || profile === 'local' || named.has(id))
  const versioned = versions.size === 0 ? offered : offered.map((provider) => withVersion(provider, versions))
  return providerTable([...versioned, ...ofPlugins, ...providers], ports.modelCaps)
}

/** A later provider replaces an earlier one with the same id. */
export function providerTable(providers: readonly Provider[], familyCaps: FamilyCaps = () => null): ProviderTable {
  const byId = new Map<string, Provider>()
  const customs = new Map<string, Provider>()
  for (const provider of providers) for (const id of [provider.id, ...provider.aliases]) byId.set(id, provider)
  return {
    all: [...new Set(byId.values())].sort((a, b) => (a.id < b.id ? -1 : 1)),
    known: (id) => byId.has(id),
    find(id) {
      const found = byId.get(id)
      if (found !== undefined) return found
      const custom = customs.get(id) ?? customProvider(id, familyCaps)
      customs.set(id, custom)
      return custom
    },
  }
}

/** A provider without aliases or quirks leaves them out. */
export type ProviderDefinition = Omit<Provider, 'aliases' | 'quirks'> & Partial<Pick<Provider, 'aliases' | 'quirks'>>

/** Returns the provider with its defaults, with types. */
export function defineProvider(provider: ProviderDefinition): Provider {
  return { aliases: [], quirks: {}, ...provider }
}

/** Search has no format of OpenAI's; the most common one is Perplexity's. */
const OPENAI_LIKE: Provider['operations'] = Object.fromEntries(
  ['embeddings', 'rerank', 'moderations', 'ocr', 'images', 'speech', 'transcription', 'compact', 'completions'].map((name) => [
    name,
    { codec: 'openai' },
  ]),
)
const CUSTOM = { ...OPENAI_LIKE, search: { codec: 'perplexity', defaultModel: 'search' } }

function customProvider(id: string, familyCaps: FamilyCaps): Provider {
  return {
    id,
    aliases: [],
    baseUrl: null,
    dialects: {},
    quirks: {},
    needsKey: false,
    operations: CUSTOM,
    caps: memoize((model): ModelCaps => familyCaps(model) ?? { family: id }),
    dialectFor: (_request, caller) => caller,
    authorize(wire, dialect, secret, { connection }) {
      if (secret === null) return
      if (connection.bearer) wire.headers.push('authorization', `Bearer ${secret}`)
      else if (dialect === 'messages') wire.headers.push('x-api-key', secret)
      else if (dialect === 'generate_content') wire.headers.push('x-goog-api-key', secret)
      else wire.headers.push('authorization', `Bearer ${secret}`)
    },
  }
}
