// Resolves the secrets of a configuration that name a plugin's resolver: each name once, all at the same time.
import type { GatewayConfig } from '../config/define.ts'
import { keyOf, type PlacedSecret, pluginSecretsIn } from '../config/secret.ts'
import { wordsOf } from '../text/error-text.ts'
import { withTimeout } from '../timing/with-timeout.ts'
import type { SecretResolver } from '../types/plugin/offers.ts'
import type { Clock } from '../types/ports/ports.ts'

/** Timeout of one resolver call. */
const RESOLVE_MS = 30_000

export type Resolvers = ReadonlyMap<string, { readonly plugin: string; readonly run: SecretResolver }>

/** Returns the references of plugin options, of enabled connections and of all other sections. */
export function secretsNamedIn({ plugins = [], connections = {}, providers: _, ...sections }: GatewayConfig): PlacedSecret[] {
  const enabled = Object.entries(connections).filter(([, { enabled }]) => enabled !== false)
  return [
    ...plugins.flatMap(({ name, options }) => pluginSecretsIn(options, `The options of the plugin \`${name}\``)),
    ...enabled.flatMap(([key, entry]) => pluginSecretsIn(entry, `connections.${key}`)),
    ...Object.entries(sections).flatMap(([name, section]) => pluginSecretsIn(section, name)),
  ]
}

/** Returns the values by `keyOf`. @throws Error naming the place, the scheme and the plugin; never a value */
export async function resolvedSecrets(
  named: readonly PlacedSecret[],
  resolvers: Resolvers,
  clock: Clock,
): Promise<Map<string, string>> {
  const once = new Map(named.map((placed) => [keyOf(placed), placed]))
  const values = await Promise.all(
    [...once].map(async ([key, placed]) => [key, await secretOf(placed, resolvers, clock)] as const),
  )
  return new Map(values)
}

async function secretOf({ scheme, name, where }: PlacedSecret, resolvers: Resolvers, clock: Clock): Promise<string> {
  const resolver = resolvers.get(scheme)
  if (resolver === undefined)
    throw new Error(`${where}: no plugin offers the secret resolver \`${scheme}\`. List the plugin that has it in \`plugins\`.`)
  let value: unknown
  try {
    value = await withTimeout(clock, RESOLVE_MS, resolver.run(name))
  } catch (error) {
    throw new Error(
      `${where}: the plugin \`${resolver.plugin}\` could not resolve the secret \`${name}\` of \`${scheme}\`: ${wordsOf(error)}`,
      { cause: error },
    )
  }
  if (typeof value === 'string' && value.trim() !== '') return value.trim()
  throw new Error(`${where}: the plugin \`${resolver.plugin}\` has no value for the secret \`${name}\` of \`${scheme}\`.`)
}
