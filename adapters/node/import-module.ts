// Loads a module that imports `hookgate`, wherever it lies: TypeScript or JavaScript, with the running modules behind that name.
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { createRequire, Module } from 'node:module'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { createJiti, type Jiti } from 'jiti'

/** @param from the file or folder that a package name is looked up from; default: here. */
export async function importModule(specifier: string, from = import.meta.url): Promise<Readonly<Record<string, unknown>>> {
  const forget = await shareOwnModules()
  const jiti = createJiti(from, { fsCache: false, alias: ownEntries(), interopDefault: false })
  try {
    return await (imported(jiti, specifier) ?? jiti.import<Record<string, unknown>>(specifier))
  } finally {
    forget()
  }
}

/**
 * A JavaScript module of the user's, compiled like TypeScript: the loader would leave it to node, which reads a file once in the
 * life of a process. undefined: it is none.
 */
function imported(jiti: Jiti, specifier: string): Promise<Record<string, unknown>> | undefined {
  const url = jiti.esmResolve(specifier, { try: true })
  if (url === undefined || !/^file:.*\.m?js$/.test(url) || url.includes('/node_modules/')) return undefined
  const filename = fileURLToPath(url)
  const source = readFileSync(filename, 'utf8')
  if (filename.endsWith('.js') && !/^\s*(?:import|export)\b/m.test(source)) return undefined
  return jiti.evalModule(source, { filename, async: true, forceTranspile: true }) as Promise<Record<string, unknown>>
}

/**
 * Configs and plugins import `hookgate`: they must get the very modules that are running, or plugins would look changed at
 * every reload. They are put where the loader looks first. Returns forget(): what the load itself added goes, so that the next
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
