// Loads gateway.config.ts (or .mjs, .js), with jiti if it is not plain, and the plugins that it names.
import { basename } from 'node:path'
import type { ConfigFile, GatewayConfig } from '../../../core/config/define.ts'
import { importModule } from './import-module.ts'
import { loadNamed } from './load-plugin.ts'
import type { ModuleGraph } from './module-graph.ts'
import { plainModule } from './plain-module.ts'

/**
 * @param onGraph gets the files of the configuration and of each plugin that it names by path.
 * @throws Error naming the file; for a syntax error also the line.
 */
export async function loadConfig(path: string, onGraph: (graph: ModuleGraph) => void = () => {}): Promise<GatewayConfig> {
  let loaded: unknown
  try {
    loaded = (await exportsOf(path, onGraph)).default
  } catch (error) {
    throw new Error(`${basename(path)} could not be loaded: ${(error as Error).message}`, { cause: error })
  }
  if (typeof loaded !== 'object' || loaded === null)
    throw new Error(`${basename(path)} has no default export. Write \`export default defineConfig({ … })\`.`)
  const { plugins, ...rest } = loaded as ConfigFile
  if (!Array.isArray(plugins)) return loaded as GatewayConfig
  try {
    return { ...rest, plugins: await loadNamed(plugins, path, onGraph) }
  } catch (error) {
    throw new Error(`${basename(path)}: ${(error as Error).message}`, { cause: error })
  }
}

async function exportsOf(path: string, onGraph: (graph: ModuleGraph) => void): Promise<Readonly<Record<string, unknown>>> {
  const plain = plainModule(path)
  if (plain === null) return importModule(path, { again: true, onGraph })
  onGraph(plain.graph)
  return plain.run()
}
