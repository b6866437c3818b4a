// Reads which connections the configuration file of this place declares.
import { readEnv } from '../../../core/config/env.ts'
import { FILE_VARIABLES } from '../../../core/config/variables.ts'
import type { Place } from '../control-plane/control-plane.ts'

export interface ExistingConfig {
  /** null: there is no file. */
  readonly path: string | null
  /** Label and provider of each connection. */
  readonly connections: readonly (readonly [label: string, provider: string])[]
}

/** @throws Error when the file cannot be loaded. */
export async function existingConfig(place: Place): Promise<ExistingConfig> {
  const [{ findConfig }, { loadConfig }] = await Promise.all([
    import('../../node/loading/find-config.ts'),
    import('../../node/loading/load-config.ts'),
  ])
  const env = readEnv({ environment: process.env, flags: { CONFIG: place.config }, variables: FILE_VARIABLES })
  const path = findConfig(env.get<string | null>('CONFIG'), process.cwd())
  if (path === null) return { path, connections: [] }
  const { connections = {} } = await loadConfig(path)
  return {
    path,
    connections: Object.entries(connections).map(([key, { label = key, provider }]) => [label, provider] as const),
  }
}
