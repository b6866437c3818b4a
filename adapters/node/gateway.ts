// createGateway for Node: that of the core with default ports and stores, and with the preset when the config names no plugins.
import { fileOptions, type GatewayConfig, parseConfig, refuseNoConfig } from '../../core/config/define.ts'
import { readEnv } from '../../core/config/env.ts'
import { type CreateOptions, createGateway as createCore, type HostedGateway } from '../../core/gateway.ts'
import { jsonLog } from '../../core/log.ts'
import { variablesOf } from '../../core/plugins/variables.ts'
import { systemClock } from '../../core/timing/clock.ts'
import type { Ports } from '../../core/types/gateway.ts'
import type { Variable } from '../../core/types/plugin/variables.ts'
import type { Clock, Logger } from '../../core/types/ports/ports.ts'
import { preset } from '../../plugins/preset.ts'
import type { Link } from '../stores/ipc/link.ts'
import { readFile } from './loading/read-file.ts'

export interface NodeCreateOptions extends CreateOptions {
  /**
   * True: rate cards are fetched unless the configuration disables it. Default false: a library makes outbound calls only when its host
   * allows them.
   */
  callsOut?: boolean
  /** Set in a worker of `hookgate serve`: what it shares its state through. */
  link?: Link
}

/**
 * Without `ports.log`, warnings and errors go to stderr as JSON lines, and all other lines are dropped.
 * @param config a plain object or the result of defineConfig; without `plugins` it gets the preset.
 * @param ports replace any of the default ports. `env` defaults to none: pass process.env to read GATEWAY_* variables. Without
 * GATEWAY_DATA_DIR and GATEWAY_DATABASE_URL (or `dataDir`, `databaseUrl` in the config's options) all data, such as keys and connections,
 * is in memory.
 * @throws Error naming the invalid entry, variable or plugin.
 */
export async function createGateway(
  config: GatewayConfig = {},
  ports: Partial<Ports> = {},
  { callsOut = false, link, ...create }: NodeCreateOptions = {},
): Promise<HostedGateway> {
  const completed = (given: GatewayConfig) => (callsOut ? withPreset(given) : withoutFetching(withPreset(given)))
  const complete = completed(config)
  const parsed = parseConfig(complete)
  // Loaded with the first gateway: a process that only defines plugins or configurations needs none of it.
  const [{ nodePorts }, { openStores }] = await Promise.all([import('./ports.ts'), import('./stores.ts')])
  const layers = { environment: ports.env ?? {}, options: fileOptions(parsed), flags: create.flags ?? {} }
  const env = readEnv({ ...layers, variables: knownVariables(parsed) })
  const stores = await openStores(env, ports, link)
  const gateway = await createCore(
    complete,
    {
      readFile,
      log: libraryLog(ports.clock ?? systemClock),
      ...nodePorts(env, ports.env),
      ...(link && { siblings: link.siblings }),
      ...stores,
      ...ports,
    },
    { bundled: preset(), ...create },
  )
  const { reload } = gateway
  // Keeps getters: `hooks` and `env` are those of the current generation.
  return Object.defineProperty(gateway, 'reload', { value: (next: GatewayConfig) => reload(completed(next)) })
}

function libraryLog(clock: Clock): Logger {
  return jsonLog(clock, { level: 'warn', write: (line) => void process.stderr.write(`${line}\n`) })
}

/** Compiled-in prices apply, unless the configuration or a variable enables fetching. */
function withoutFetching(config: GatewayConfig): GatewayConfig {
  return { ...config, options: { pricingSyncEnabled: false, ...config.options } }
}

export function withPreset(config: GatewayConfig): GatewayConfig {
  refuseNoConfig(config)
  return config.plugins === undefined ? { ...config, plugins: preset() } : config
}

/** Returns every variable of a gateway with this configuration. @throws Error for a variable that is declared twice. */
export function knownVariables(config: GatewayConfig): Variable[] {
  return variablesOf(withPreset(config).plugins ?? [], preset())
}
