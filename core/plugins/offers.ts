// Collects what plugins offer before the first setup: providers, dialects, secret resolvers and storage drivers.
import type { Env } from '../config/env.ts'
import { hasPluginSecrets, resolveSecret, type SecretRef, type SecretSources } from '../config/secret.ts'
import { wordsOf } from '../text/error-text.ts'
import type { OfferHost } from '../types/plugin/offer-host.ts'
import type { Offers } from '../types/plugin/offers.ts'
import type { Plugin } from '../types/plugin/plugin.ts'
import type { Provider } from '../types/ports/provider.ts'
import type { DialectDriver } from '../types/request/dialect.ts'
import { checkDialect, checkProvider } from './check-offers.ts'
import { resolveOptions, sameOptions } from './options.ts'

/** The offers of one plugin. A reload keeps them while the plugin and its options stay the same. */
export interface Offered {
  readonly plugin: Plugin
  readonly options: Record<string, unknown>
  readonly offers: Offers
}

export interface OfferSource {
  readonly plugins: readonly Plugin[]
  readonly env: Env
  readonly sources: SecretSources
  /** The offers of the previous generation. */
  readonly previous: readonly Offered[]
  host(plugin: string): OfferHost
  /** Resolves the secrets that name a resolver, after all resolvers are known. */
  resolve(offered: readonly Offered[]): Promise<void>
}

/**
 * Calls `offers` of the plugins whose options need no resolver, resolves the secrets, then calls the others.
 * @throws Error naming the plugin
 */
export async function collectOffers(source: OfferSource): Promise<Offered[]> {
  const offering = source.plugins.filter(({ definition }) => definition.offers !== undefined)
  const early = offering.filter(({ options }) => !hasPluginSecrets(options))
  const found = early.map((plugin) => offered(plugin, source))
  await source.resolve(found)
  for (const plugin of offering) {
    if (early.includes(plugin)) continue
    const late = offered(plugin, source)
    if (late.offers.secrets !== undefined || late.offers.storage !== undefined)
      throw new Error(
        `The plugin \`${plugin.name}\` offers secrets or storage, so its own options may not name a secret of a plugin. Use secret.env or secret.file.`,
      )
    found.push(late)
  }
  return offering.map((plugin) => found.find((one) => one.plugin === plugin) as Offered)
}

function offered(plugin: Plugin, { plugins, env, sources, previous, host }: OfferSource): Offered {
  const secretOf = (reference: SecretRef, where: string): string => resolveSecret(reference, sources, where)
  const options = resolveOptions(plugin, env, secretOf, plugins.indexOf(plugin))
  const old = previous.find((one) => one.plugin.definition === plugin.definition && sameOptions(one.options, options))
  if (old !== undefined) return { ...old, plugin }
  let offers: unknown
  try {
    offers = plugin.definition.offers?.(options, host(plugin.name))
  } catch (error) {
    throw new Error(`The plugin \`${plugin.name}\` could not be set up: offers: ${wordsOf(error)}`, { cause: error })
  }
  if (typeof offers !== 'object' || offers === null || typeof (offers as { then?: unknown }).then === 'function')
    throw new Error(`The plugin \`${plugin.name}\` is defined wrongly: \`offers\` must return an object, and not a promise.`)
  const made = offers as Offers
  for (const provider of made.providers ?? []) checkProvider(plugin.name, provider)
  for (const dialect of made.dialects ?? []) checkDialect(plugin.name, dialect)
  return { plugin, options, offers: made }
}

export interface OfferedParts {
  readonly providers: readonly Provider[]
  readonly dialects: readonly DialectDriver[]
}

/**
 * Returns the providers and dialects of all plugins.
 * @throws Error for a name that hookgate has or that two plugins offer, and for a dialect that nothing speaks
 */
export function offeredParts(
  all: readonly Offered[],
  own: { readonly providers: readonly Provider[]; readonly dialects: readonly DialectDriver[] },
): OfferedParts {
  const providers = owners(
    'provider',
    own.providers.flatMap(({ id, aliases }) => [id, ...aliases]),
  )
  const dialects = owners(
    'dialect',
    own.dialects.map(({ id }) => id),
  )
  for (const { plugin, offers } of all) {
    for (const { id } of offers.dialects ?? []) dialects.claim(plugin.name, id)
    for (const { id, aliases } of offers.providers ?? []) for (const name of [id, ...aliases]) providers.claim(plugin.name, name)
  }
  for (const { plugin, offers } of all)
    for (const { id, dialects: spoken } of offers.providers ?? [])
      for (const dialect of Object.keys(spoken))
        if (!dialects.has(dialect))
          throw new Error(
            `The provider \`${id}\` of the plugin \`${plugin.name}\` speaks the dialect \`${dialect}\`, which no plugin offers.`,
          )
  return {
    providers: all.flatMap(({ offers }) => offers.providers ?? []),
    dialects: all.flatMap(({ offers }) => offers.dialects ?? []),
  }
}

/** Returns the drivers of one kind by scheme. @throws Error for a scheme that is taken. */
export function bySchemes<K extends 'secrets' | 'storage'>(
  all: readonly Offered[],
  kind: K,
  taken: readonly string[],
): ReadonlyMap<string, { readonly plugin: string; readonly run: NonNullable<Offers[K]>[string] }> {
  const table = new Map<string, { plugin: string; run: NonNullable<Offers[K]>[string] }>()
  const names = owners(kind === 'secrets' ? 'secret resolver' : 'storage driver', taken)
  for (const { plugin, offers } of all)
    for (const [scheme, run] of Object.entries(offers[kind] ?? {})) {
      names.claim(plugin.name, scheme)
      table.set(scheme, { plugin: plugin.name, run: run as NonNullable<Offers[K]>[string] })
    }
  return table
}

function owners(kind: string, taken: readonly string[]) {
  const by = new Map<string, string | null>(taken.map((name) => [name, null]))
  return {
    has: (name: string) => by.has(name),
    claim(plugin: string, name: string): void {
      const other = by.get(name)
      if (other === null)
        throw new Error(
          `The plugin \`${plugin}\` offers the ${kind} \`${name}\`, which hookgate has. Give it a name of its own, or list a provider of that name under \`providers\`.`,
        )
      if (other !== undefined)
        throw new Error(
          `The plugins \`${other}\` and \`${plugin}\` both offer the ${kind} \`${name}\`. Leave one of them out, or rename it.`,
        )
      by.set(name, plugin)
    },
  }
}
