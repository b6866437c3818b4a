// createGateway for Node: the core's, with default ports, stores, and the preset where the config names no plugins.
import { readFileSync } from 'node:fs'
import { type GatewayConfig, parseConfig, refuseNoConfig } from '../../core/config/define.ts'
import { readEnv } from '../../core/config/env.ts'
import { type CreateOptions, createGateway as createCore, type HostedGateway } from '../../core/gateway.ts'
import type { Ports } from '../../core/types/gateway.ts'
import { preset } from '../../plugins/preset.ts'
import { nodePorts } from './ports.ts'
import { openStores } from './stores.ts'

/**
 * @param config a plain object or what defineConfig returned; without `plugins` it gets the preset.
 * @param ports replace any of the default ports. `env` defaults to none: pass process.env to read GATEWAY_* variables.
 * Without GATEWAY_DATA_DIR and GATEWAY_DATABASE_URL (or `dataDir`, `databaseUrl` in the config's options) keys,
 * connections and all else live in memory.
 * @throws Error naming the line of the configuration, the variable or the plugin that is wrong.
 */
export async function createGateway(
  config: GatewayConfig = {},
  ports: Partial<Ports> = {},
  create: CreateOptions = {},
): Promise<HostedGateway> {
  const parsed = withPreset(config)
  const { options = {}, profile } = parseConfig(parsed)
  const inFile = { ...options, ...(profile ? { profile } : {}) }
  const env = readEnv({ environment: ports.env ?? {}, options: inFile, flags: create.flags ?? {} })
  const stores = await openStores(env, ports)
  const gateway = await createCore(parsed, { readFile, ...nodePorts(env, ports.env), ...stores, ...ports }, create)
  const { reload } = gateway
  // Getters stay getters: `hooks` and `env` are those of the current generation.
  return Object.defineProperty(gateway, 'reload', { value: (next: GatewayConfig) => reload(withPreset(next)) })
}

export function withPreset(config: GatewayConfig): GatewayConfig {
  refuseNoConfig(config)
  return config.plugins === undefined ? { ...config, plugins: preset() } : config
}

function readFile(path: string): string | null {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return null
  }
}
