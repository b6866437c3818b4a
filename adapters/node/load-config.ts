// Loads gateway.config.ts (or .mjs, .js) with jiti and watches it: a change is loaded anew; one that does not load keeps
// the last good configuration.
import { existsSync, readdirSync, watch } from 'node:fs'
import { createRequire, Module } from 'node:module'
import { basename, dirname, resolve } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { createJiti } from 'jiti'
import type { GatewayConfig } from '../../core/config/define.ts'

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
  const forget = await shareOwnModules()
  const jiti = createJiti(import.meta.url, { fsCache: false, alias: ownEntries(), interopDefault: false })
  let loaded: unknown
  try {
    loaded = (await jiti.import<{ default?: unknown }>(path)).default
  } catch (error) {
    throw new Error(`${basename(path)} could not be loaded: ${(error as Error).message}`, { cause: error })
  } finally {
    forget()
  }
  if (typeof loaded !== 'object' || loaded === null)
    throw new Error(`${basename(path)} has no default export. Write \`export default defineConfig({ … })\`.`)
  return loaded as GatewayConfig
}

/** Calls `changed` after the file was written, once per burst. Returns stop(). */
export function watchConfig(path: string, changed: () => void): () => void {
  let timer: NodeJS.Timeout | null = null
  // The folder, not the file: editors replace files, and a watcher on the old inode would fall silent.
  const watcher = watch(dirname(path), (_event, name) => {
    if (name !== null && name !== basename(path)) return
    if (timer !== null) clearTimeout(timer)
    timer = setTimeout(changed, SETTLE_MS)
  })
  return () => {
    if (timer !== null) clearTimeout(timer)
    watcher.close()
  }
}

const SETTLE_MS = 100

/**
 * A config imports `hookgate`: it must get the very modules that are running, or its plugins would look changed at every
 * reload. They are put where the loader looks first. Returns forget(): what the load itself added goes, so that the next
 * one reads the files again.
 */
async function shareOwnModules(): Promise<() => void> {
  const { cache } = createRequire(import.meta.url)
  for (const path of Object.values(sharedEntries())) {
    if (cache[path] !== undefined || !existsSync(path)) continue
    const exports: unknown = await import(pathToFileURL(path).href)
    cache[path] = Object.assign(new Module(path), { filename: path, loaded: true, exports })
  }
  const before = new Set(Object.keys(cache))
  return () => {
    for (const key of Object.keys(cache)) if (!before.has(key) && !key.includes('node_modules')) delete cache[key]
  }
}

/** Every entry of package.json `exports`, for a config that lies where `hookgate` is not installed. */
function ownEntries(): Record<string, string> {
  return {
    ...sharedEntries(),
    'hookgate/testing': own('adapters/testing/index'),
    'hookgate/adapters': fileURLToPath(at('adapters')),
  }
}

/** Those that run anyway: the preset has loaded every plugin. */
function sharedEntries(): Record<string, string> {
  const plugins = readdirSync(at('plugins'), { withFileTypes: true }).filter((entry) => entry.isDirectory())
  return {
    ...Object.fromEntries(plugins.map(({ name }) => [`hookgate/plugins/${name}`, own(`plugins/${name}/index`)])),
    'hookgate/core': own('core/index'),
    'hookgate/preset': own('plugins/preset'),
    hookgate: own('adapters/node/index'),
  }
}

function own(path: string): string {
  return fileURLToPath(at(`${path}.${import.meta.url.endsWith('.ts') ? 'ts' : 'js'}`))
}

function at(path: string): URL {
  return new URL(`../../${path}`, import.meta.url)
}
