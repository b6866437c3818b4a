// Holds the providers, dialects and secrets of the serving configuration, those of plugins included, and prepares those of the next one.

import { versionsIn } from '../client-versions.ts'
import type { GatewayConfig } from '../config/define.ts'
import type { Env } from '../config/env.ts'
import type { SecretSources } from '../config/secret.ts'
import { offeredProviders, type ProviderTable } from '../providers.ts'
import { wordsOf } from '../text/error-text.ts'
import { withTimeout } from '../timing/with-timeout.ts'
import type { Ports } from '../types/gateway.ts'
import type { OfferHost } from '../types/plugin/offer-host.ts'
import type { OpenStorage } from '../types/plugin/offers.ts'
import type { Logger } from '../types/ports/ports.ts'
import type { Provider } from '../types/ports/provider.ts'
import type { Dialect } from '../types/request/canonical.ts'
import type { DialectDriver } from '../types/request/dialect.ts'
import { bySchemes, collectOffers, type Offered, offeredParts } from './offers.ts'
import { resolvedSecrets, secretsNamedIn } from './plugin-secrets.ts'

/** Timeout for opening a store. */
const OPEN_MS = 30_000

export interface PreparedOffers {
  readonly providers: ProviderTable
  /** The dialects whose routes are served. */
  readonly dialects: readonly DialectDriver[]
  /** Makes these the serving ones. */
  serve(): void
}

export interface OfferRegistry {
  /** A dialect that a reload removed stays here for the requests that still run. */
  readonly dialects: ReadonlyMap<Dialect, DialectDriver>
  readonly providers: ProviderTable
  readonly sources: SecretSources
  /** @throws Error naming plugin, provider, dialect or secret */
  prepare(config: GatewayConfig, env: Env): Promise<PreparedOffers>
  /** Opens the store of GATEWAY_STORAGE_URL; null: it is not set. Call it after the first `prepare`. @throws Error naming the scheme */
  openStorage(env: Env): Promise<OpenStorage | null>
}

export function offerRegistry(ports: Ports, lent: Omit<OfferHost, 'profile'>): OfferRegistry {
  const dialects = new Map(ports.dialects.map((dialect) => [dialect.id, dialect]))
  const resolved = new Map<string, string>()
  const sources = { env: ports.env ?? {}, readFile: ports.readFile ?? (() => null), resolved }
  let own: Pick<Ports, 'providers' | 'modelCaps'> = ports
  let hosted = false
  let providers = offeredProviders(ports, {}, 'cloud')
  let current: readonly Offered[] = []
  let prepared: readonly Offered[] = []

  return {
    dialects,
    sources,
    get providers() {
      return providers
    },
    async prepare(config, env) {
      const profile = env.get<'local' | 'cloud'>('PROFILE')
      const offered = await collectOffers({
        plugins: config.plugins ?? [],
        env,
        sources,
        previous: current,
        host: (plugin) => ({ ...lent, profile, log: named(lent.log, plugin) }),
        async resolve(early) {
          const resolvers = bySchemes(early, 'secrets', ['env', 'file'])
          for (const [key, value] of await resolvedSecrets(secretsNamedIn(config), resolvers, lent.clock))
            resolved.set(key, value)
        },
      })
      const parts = offeredParts(offered, ports)
      bySchemes(offered, 'storage', [])
      prepared = offered
      if (!hosted) own = { ...ports, providers: ports.providers.map((provider) => withHost(provider, { ...lent, profile })) }
      hosted = true
      const next = offeredProviders(own, config, profile, parts.providers, versionsIn(env.get('FINGERPRINT_VERSIONS'), lent.log))
      return {
        providers: next,
        dialects: [...ports.dialects, ...parts.dialects],
        serve() {
          current = offered
          providers = next
          for (const dialect of parts.dialects) dialects.set(dialect.id, dialect)
        },
      }
    },
    async openStorage(env) {
      const url = env.get<string | null>('STORAGE_URL')
      if (url === null) return null
      const scheme = /^([\w+.-]+):/.exec(url)?.[1] ?? ''
      const driver = bySchemes(prepared, 'storage', []).get(scheme)
      if (driver === undefined)
        throw new Error(`GATEWAY_STORAGE_URL: no plugin offers the storage driver \`${scheme}\`. List the plugin that has it.`)
      try {
        return await withTimeout(lent.clock, OPEN_MS, driver.run(url))
      } catch (error) {
        throw new Error(`GATEWAY_STORAGE_URL: the plugin \`${driver.plugin}\` could not open the store: ${wordsOf(error)}`, {
          cause: error,
        })
      }
    },
  }
}

/** Once for each gateway: a reload keeps the tokens. */
function withHost(provider: Provider, host: OfferHost): Provider {
  return provider.hosted === undefined ? provider : { ...provider, ...provider.hosted(host) }
}

function named(log: Logger, plugin: string): Logger {
  const at = (level: keyof Logger) => (message: string, fields?: object) => log[level](message, { plugin, ...fields })
  return { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') }
}
