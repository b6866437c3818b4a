// Finds the configuration, variables and database that a command line selects. Opens none of them.
import { existsSync } from 'node:fs'
import { fileOptions, type GatewayConfig, parseConfig } from '../../core/config/define.ts'
import { type Env, readEnv } from '../../core/config/env.ts'
import { FILE_VARIABLES } from '../../core/config/variables.ts'
import type { Plugin } from '../../core/types/plugin/plugin.ts'
import type { Database } from '../../core/types/ports/db.ts'
import type { ModuleGraph } from '../node/loading/module-graph.ts'
import type { Place } from './control-plane/control-plane.ts'

export interface Surroundings {
  /** The configuration file; null when there is none. */
  readonly path: string | null
  readonly config: GatewayConfig
  readonly env: Env
  readonly dataDir: string
  readonly databaseUrl: string | null
  /** The SQLite file; null for another engine and for memory. */
  readonly file: string | null
  readonly plugins: readonly Plugin[]
  /** Texts of all files that form the configuration. */
  readonly sources: readonly string[]
}

/** @throws Error naming file, field or variable. */
export async function surroundings(place: Place): Promise<Surroundings> {
  const [{ findConfig }, { loadConfig }, { defaultDataDir }, { knownVariables, withPreset }, { sqlitePath }] = await Promise.all([
    import('../node/loading/find-config.ts'),
    import('../node/loading/load-config.ts'),
    import('../node/data-dir.ts'),
    import('../node/gateway.ts'),
    import('../stores/open-database.ts'),
  ])
  const environment = process.env
  const flags = { CONFIG: place.config, DATA_DIR: place['data-dir'] }
  const path = findConfig(readEnv({ environment, flags, variables: FILE_VARIABLES }).get<string | null>('CONFIG'), process.cwd())
  const sources: string[] = []
  const onGraph = ({ files }: ModuleGraph): void => void sources.push(...[...files.values()].map(({ source }) => source))
  const config = path === null ? {} : parseConfig(await loadConfig(path, onGraph))
  const { plugins = [] } = withPreset(config)
  const inFile = { dataDir: defaultDataDir(environment), ...fileOptions(config) }
  const env = readEnv({ environment, flags, options: inFile, variables: knownVariables(config) })
  const dataDir = env.get<string>('DATA_DIR')
  const databaseUrl = env.get<string | null>('DATABASE_URL')
  const given = databaseUrl ?? 'sqlite:gateway.db'
  const sqlite = /^postgres(ql)?:/.test(given) ? null : sqlitePath(given, dataDir)
  return { path, config, env, dataDir, databaseUrl, plugins, sources, file: sqlite === ':memory:' ? null : sqlite }
}

/** Returns null when the SQLite file does not exist: a read must not create it. */
export async function existingDatabase({ file, databaseUrl, dataDir }: Surroundings): Promise<Database | null> {
  if (file !== null && !existsSync(file)) return null
  const { openDatabase } = await import('../stores/open-database.ts')
  return openDatabase(databaseUrl, dataDir)
}
