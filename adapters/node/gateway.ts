// createGateway for Node: the core's, with default ports and the preset where the config names no plugins.
import { readFileSync } from 'node:fs'
import { type GatewayConfig, parseConfig } from '../../core/config/define.ts'
import { readEnv } from '../../core/config/env.ts'
import { type CreateOptions, createGateway as createCore, type HostedGateway } from '../../core/gateway.ts'
import type { Ports } from '../../core/types/gateway.ts'
import { preset } from '../../plugins/preset.ts'
import { nodePorts } from './ports.ts'

/**
 * @param config a plain object or what defineConfig returned; without `plugins` it gets the preset.
 * @param ports replace any of the default ports. `env` defaults to none: pass process.env to read GATEWAY_* variables.
 * @throws Error naming the line of the configuration, the variable or the plugin that is wrong.
 */
export async function createGateway(
  config: GatewayConfig = {},
  ports: Partial<Ports> = {},
  create: CreateOptions = {},
): Promise<HostedGateway> {
  const parsed = withPreset(config)
  const env = readEnv({ environment: ports.env ?? {}, options: parseConfig(parsed).options ?? {}, flags: create.flags ?? {} })
  const gateway = await createCore(parsed, { readFile, ...nodePorts(env, ports.env), ...ports }, create)
  const { reload } = gateway
  // Getters stay getters: `hooks` and `env` are those of the current generation.
  return Object.defineProperty(gateway, 'reload', { value: (next: GatewayConfig) => reload(withPreset(next)) })
}

export function withPreset(config: GatewayConfig): GatewayConfig {
  return config.plugins === undefined ? { ...config, plugins: preset() } : config
}

function readFile(path: string): string | null {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return null
  }
}
