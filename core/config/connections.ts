// Validates the connections of the configuration file and resolves their secrets in memory.
import type { ProviderTable } from '../providers.ts'
import type { Connection } from '../types/ports/provider.ts'
import { operationIn } from './addresses.ts'
import type { ConnectionConfig, GatewayConfig } from './define.ts'
import { isSecretRef, resolveSecret, type SecretSources } from './secret.ts'

export interface ConfiguredConnection {
  readonly connection: Connection
  readonly secret: string | null
  readonly enabled: boolean
  /** Labels that plugins read. */
  readonly metadata?: Readonly<Record<string, unknown>>
}

/** @throws Error naming `connections.<key>` and the missing value. */
export function configuredConnections(
  config: GatewayConfig,
  providers: ProviderTable,
  sources: SecretSources,
): ConfiguredConnection[] {
  return Object.entries(config.connections ?? {}).map(([key, entry], index) => one(key, entry, index, providers, sources))
}

function one(
  key: string,
  entry: ConnectionConfig,
  index: number,
  providers: ProviderTable,
  sources: SecretSources,
): ConfiguredConnection {
  const at = `connections.${key}`
  // With provider `custom` the record key is the provider id.
  const id = entry.provider === 'custom' ? key : entry.provider
  const known = entry.provider !== 'custom' && providers.known(id)
  const provider = providers.find(id)
  if (!known && entry.provider !== 'custom' && (entry.baseUrl === undefined || entry.wireFormat === undefined)) {
    throw new Error(
      `${at}.provider: \`${id}\` is not in the provider registry. Give baseUrl and wireFormat to use it as a custom provider.`,
    )
  }
  if (!known && entry.baseUrl === undefined) throw new Error(`${at}.baseUrl: a custom provider needs a base URL.`)
  const slip = entry.baseUrl === undefined ? null : operationIn(entry.baseUrl)
  if (slip !== null) throw new Error(`${at}.baseUrl ${slip}`)
  if (!known && entry.wireFormat === undefined)
    throw new Error(`${at}.wireFormat: a custom provider needs one of chat, messages, responses, generate_content.`)
  if (known && provider.baseUrl === null && entry.baseUrl === undefined && provider.answer === undefined) {
    throw new Error(`${at}.baseUrl: \`${id}\` has no address of its own; give the base URL of your deployment.`)
  }
  if (provider.needsKey && entry.apiKey === undefined && entry.enabled !== false) {
    throw new Error(
      `${at}.apiKey: \`${id}\` needs a key, for example secret.env('${id.toUpperCase().replaceAll(/[^A-Z0-9]/g, '_')}_API_KEY').`,
    )
  }
  const enabled = entry.enabled !== false
  const { headers, headerSecrets } = enabled ? headersOf(entry.headers ?? {}, sources, at) : NO_HEADERS
  const proxyUrl = entry.proxyUrl === undefined ? null : resolveSecret(entry.proxyUrl, sources, `${at}.proxyUrl`)
  if (proxyUrl !== null && proxyUrl !== 'direct' && !/^(https?|socks5):\/\//.test(proxyUrl)) {
    throw new Error(`${at}.proxyUrl: the proxy must be an http, https or socks5 URL, or \`direct\`.`)
  }
  return {
    enabled,
    ...(entry.metadata === undefined ? {} : { metadata: entry.metadata }),
    secret: entry.apiKey === undefined || !enabled ? null : resolveSecret(entry.apiKey, sources, `${at}.apiKey`),
    connection: {
      id: key,
      provider: provider.id,
      baseUrl: entry.baseUrl ?? null,
      label: entry.label ?? key,
      wireFormat: entry.wireFormat ?? null,
      allowedModels: entry.allowedModels ?? [],
      priority: entry.priority ?? index,
      maxInflight: entry.maxInflight ?? null,
      proxyUrl,
      headers,
      ...(headerSecrets.length === 0 ? {} : { headerSecrets }),
      defaultModel: entry.defaultModel ?? null,
      caps: entry.caps ?? null,
    },
  }
}

const NO_HEADERS = { headers: {}, headerSecrets: [] }

function headersOf(
  given: NonNullable<ConnectionConfig['headers']>,
  sources: SecretSources,
  at: string,
): { headers: Record<string, string>; headerSecrets: string[] } {
  const headerSecrets: string[] = []
  const headers = Object.fromEntries(
    Object.entries(given).map(([name, value]) => {
      const text = resolveSecret(value, sources, `${at}.headers.${name}`)
      if (isSecretRef(value)) headerSecrets.push(text)
      return [name, text]
    }),
  )
  return { headers, headerSecrets }
}
