// Loads a gateway from a configuration file and follows the file. `hookgate serve` and embedding servers share this code.
import { type GatewayConfig, parseConfig } from '../../../core/config/define.ts'
import { readEnv } from '../../../core/config/env.ts'
import { FILE_VARIABLES } from '../../../core/config/variables.ts'
import type { HostedGateway } from '../../../core/gateway.ts'
import { serialize } from '../../../core/timing/serialize.ts'
import type { Ports } from '../../../core/types/gateway.ts'
import type { Link } from '../../stores/ipc/link.ts'
import { defaultDataDir } from '../data-dir.ts'
import { createGateway } from '../gateway.ts'
import { simulator } from '../simulation/simulate-thread.ts'
import { findConfig } from './find-config.ts'
import { LITERAL_SECRET, literalSecrets } from './literal-secrets.ts'
import { loadConfig } from './load-config.ts'
import type { ModuleGraph } from './module-graph.ts'
import { type FileWatch, watchFiles } from './watch-files.ts'

export interface LoadOptions {
  /** Default: GATEWAY_CONFIG, otherwise gateway.config.ts in `cwd`. */
  config?: string
  cwd?: string
  /** Default: process.env. */
  env?: Ports['env']
  /** Values by variable name. They take precedence over the environment. */
  flags?: Readonly<Record<string, string | undefined>>
  /** Reload when the file changes; default true. */
  watch?: boolean
  /** False: rows that the file declares are not reconciled. */
  reconcile?: boolean
  /** Completes each loaded configuration; the development server adds its plugin. */
  extend?: (config: GatewayConfig) => GatewayConfig
  /** Called after a changed file was loaded, with the error or null. Default: an error is logged. */
  onRefresh?: (error: Error | null) => void
  ports?: Partial<Ports>
  /** Set in a worker of `hookgate serve`. */
  link?: Link
}

export interface LoadedGateway {
  readonly gateway: HostedGateway
  /** The file; null when there was none. Then all defaults apply, and on the local profile `echo` is the only connection. */
  readonly path: string | null
  /** Loads the file again. Rejects and changes nothing when it is invalid. */
  reload(): Promise<void>
  /** Does the same as a changed file: an error is logged, and the last valid configuration keeps serving. */
  refresh(): Promise<void>
  close(): Promise<void>
}

const UNWATCHED: FileWatch = { follow() {}, stop() {} }

const WITHOUT_FILE: GatewayConfig = { connections: { echo: { provider: 'echo' } } }

/**
 * A served gateway stores its data on disk, so the lowest layer of configuration names a directory. @throws Error naming each invalid
 * field.
 */
function withDataDir(config: GatewayConfig, environment: NonNullable<Ports['env']>): GatewayConfig {
  return { ...config, options: { dataDir: defaultDataDir(environment), ...parseConfig(config).options } }
}

/** @throws Error naming file, field, variable or plugin. */
export async function loadGateway(options: LoadOptions = {}): Promise<LoadedGateway> {
  const environment = options.env ?? process.env
  const flags = { ...options.flags, ...(options.config === undefined ? {} : { CONFIG: options.config }) }
  const env = readEnv({ environment, flags, variables: FILE_VARIABLES })
  const path = findConfig(env.get<string | null>('CONFIG'), options.cwd ?? process.cwd())
  const extend = options.extend ?? ((config: GatewayConfig) => config)
  const withoutFile = env.get<string>('PROFILE') === 'local' ? WITHOUT_FILE : {}
  const files: FileWatch = path === null || options.watch === false ? UNWATCHED : watchFiles(() => void refresh())
  let known: readonly string[] = []
  let warnedOf: readonly string[] = []
  let gateway: HostedGateway
  try {
    const config = path === null ? withoutFile : await followed(path)
    const create = {
      callsOut: true,
      flags,
      ...(options.reconcile === undefined ? {} : { reconcile: options.reconcile }),
      ...(options.link === undefined ? {} : { link: options.link }),
    }
    const ports = { simulate: simulator(path, environment), ...options.ports, env: environment }
    gateway = await createGateway(extend(withDataDir(config, environment)), ports, create)
  } catch (error) {
    files.stop()
    throw error
  }
  // Serialized from the read of the file on: the later of two saved versions wins, whichever loads faster.
  const reload = serialize(async () => {
    if (path !== null) await gateway.reload(extend(withDataDir(await followed(path), environment)))
  })
  const refresh = () => reload().then(() => options.onRefresh?.(null), keepOld)
  return {
    gateway,
    path,
    reload,
    refresh,
    async close() {
      files.stop()
      await gateway.close()
    },
  }

  /** Loads the file and watches its imports, also when loading fails. */
  async function followed(path: string): Promise<GatewayConfig> {
    const paths = new Set([path])
    const before = known
    const sources: string[] = []
    try {
      const config = await loadConfig(path, (graph: ModuleGraph) => {
        for (const { source } of graph.files.values()) sources.push(source)
        for (const each of [...graph.files.keys(), ...graph.missing]) paths.add(each)
        // Immediately, because a file may be saved again during this load.
        files.follow([...before, ...paths])
      })
      if (options.watch !== false) warnOfSecrets(literalSecrets(config, sources))
      return config
    } finally {
      known = [...paths]
      files.follow(known)
    }
  }

  /** Warns once for each set of members, not at each save. */
  function warnOfSecrets(members: readonly string[]): void {
    if (members.join() === warnedOf.join()) return
    warnedOf = members
    if (members.length > 0) options.ports?.log?.warn('config.literal_secrets', { members, hint: LITERAL_SECRET })
  }

  function keepOld(error: Error): void {
    gateway.refuseReload(error)
    if (options.onRefresh !== undefined) return options.onRefresh(error)
    const log = options.ports?.log
    const line = `The changed configuration is not used; the last good one keeps serving. ${error.message}`
    if (log) log.error('config.reload_failed', { error: line })
    else console.error(line)
  }
}
