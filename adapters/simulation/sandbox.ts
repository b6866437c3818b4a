// Makes a configuration harmless: removes stores, keys and notifications. Routing stays the same.
import { readFileSync } from 'node:fs'
import type { ConnectionConfig, GatewayConfig } from '../../core/config/define.ts'
import { isSecretRef } from '../../core/config/secret.ts'

export interface Sandbox {
  readonly config: GatewayConfig
  readonly env: Readonly<Record<string, string | undefined>>
  /** Override environment and file. */
  readonly flags: Readonly<Record<string, string>>
  /** Returns a value for every secret, because the real ones are not needed. */
  readFile(path: string): string
}

/** A header on every wire request that names its connection. No other difference between accounts of one provider is reliable. */
export const MARKER = 'x-hookgate-connection'

const PLACEHOLDER = 'simulated-secret'
/** Options that locate real data and their key. */
const PLACES = ['dataDir', 'databaseUrl', 'redisUrl', 'storageUrl', 'masterKey', 'masterKeyPath']
const PLACE_VARIABLES = /^(?:GATEWAY_)?(?:DATA_DIR|DATABASE_URL|REDIS_URL|STORAGE_URL|MASTER_KEY|MASTER_KEY_PATH)$/
/** Maximum nesting of configuration that may hold references to secrets. */
const MAX_DEPTH = 8

export function sandboxOf(config: GatewayConfig, environment: Readonly<Record<string, string | undefined>>): Sandbox {
  // Webhooks would be called, and keys would need their secrets: here callers are anonymous.
  const { webhooks: _hooks, keys: _keys, ...kept } = config as GatewayConfig & { webhooks?: unknown; keys?: unknown }
  const connections = Object.entries(config.connections ?? { echo: { provider: 'echo' } })
  const sandboxed: GatewayConfig = {
    ...kept,
    connections: Object.fromEntries(connections.map(([key, entry]) => [key, marked(key, entry)])),
    options: Object.fromEntries(Object.entries(config.options ?? {}).filter(([name]) => !PLACES.includes(name))),
  }
  const own = Object.entries(environment).filter(([name]) => !PLACE_VARIABLES.test(name))
  const missing = variablesIn({
    ...sandboxed,
    plugins: sandboxed.plugins?.map(({ options }) => options),
    providers: undefined,
  }).map((name) => [name, PLACEHOLDER])
  return {
    config: sandboxed,
    env: Object.fromEntries([...missing, ...own]),
    flags: { DATABASE_URL: 'sqlite::memory:', REQUIRE_API_KEY: 'false', PRICING_SYNC_ENABLED: 'false' },
    readFile: secretFile,
  }
}

/** The simulation sends no requests, so it needs no real credential and no proxy. */
function marked(key: string, { proxyUrl: _, apiKey, headers, ...entry }: ConnectionConfig): ConnectionConfig {
  return { ...entry, ...(apiKey === undefined ? {} : { apiKey: PLACEHOLDER }), headers: { ...headers, [MARKER]: key } }
}

function variablesIn(value: unknown, depth = 0): string[] {
  if (typeof value !== 'object' || value === null || depth > MAX_DEPTH) return []
  if (isSecretRef(value)) return value.secret === 'env' ? [value.name] : []
  return Object.values(value).flatMap((member) => variablesIn(member, depth + 1))
}

function secretFile(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return PLACEHOLDER
  }
}
