// Loads gateway.config.ts (or .mjs, .js) with jiti and watches it: a change is reloaded; one that does not load keeps
// the last good configuration.
import { existsSync, lstatSync, realpathSync, watch } from 'node:fs'
import { basename, dirname, resolve } from 'node:path'
import type { ConfigFile, GatewayConfig } from '../../core/config/define.ts'
import { importModule } from './import-module.ts'
import { loadNamed } from './load-plugin.ts'

const NAMES = ['gateway.config.ts', 'gateway.config.mjs', 'gateway.config.js']

/** The file to load: the one asked for, or the first usual name in the working directory. null: none there. */
export function findConfig(asked: string | null, cwd: string): string | null {
  if (asked !== null) {
    const path = resolve(cwd, asked)
    if (!existsSync(path)) throw new Error(`The configuration file ${path} does not exist (GATEWAY_CONFIG or --config).`)
    return path
  }
  return NAMES.map((name) => resolve(cwd, name)).find((path) => existsSync(path)) ?? null
}

/** @throws Error naming the file; syntax errors name the line. */
export async function loadConfig(path: string): Promise<GatewayConfig> {
  let loaded: unknown
  try {
    loaded = (await importModule(path)).default
  } catch (error) {
    throw new Error(`${basename(path)} could not be loaded: ${(error as Error).message}`, { cause: error })
  }
  if (typeof loaded !== 'object' || loaded === null)
    throw new Error(`${basename(path)} has no default export. Write \`export default defineConfig({ … })\`.`)
  const { plugins, ...rest } = loaded as ConfigFile
  if (!Array.isArray(plugins)) return loaded as GatewayConfig
  try {
    return { ...rest, plugins: await loadNamed(plugins, path) }
  } catch (error) {
    throw new Error(`${basename(path)}: ${(error as Error).message}`, { cause: error })
  }
}

/** Calls `changed` after the file was written, once per burst. Returns stop(). */
export function watchConfig(path: string, changed: () => void): () => void {
  let timer: NodeJS.Timeout | null = null
  let target = targetOf(path)
  // The folder, not the file: editors replace files, and a watcher on the old inode would fall silent.
  const watcher = watch(dirname(path), (_event, name) => {
    const own = name === null || name === basename(path)
    if (!own && (target === null || target === targetOf(path))) return
    target = targetOf(path)
    if (timer !== null) clearTimeout(timer)
    timer = setTimeout(changed, SETTLE_MS)
  })
  return () => {
    if (timer !== null) clearTimeout(timer)
    watcher.close()
  }
}

/** Null for a file that is no link. A mounted ConfigMap is one: what changes is a folder that it leads through. */
function targetOf(path: string): string | null {
  if (!lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink()) return null
  try {
    return realpathSync(path)
  } catch {
    return ''
  }
}

const SETTLE_MS = 100
