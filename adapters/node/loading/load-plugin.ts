// Loads a plugin by the name of its package or by its path, and calls its factory.
import { existsSync } from 'node:fs'
import { basename, dirname, isAbsolute, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { PluginReference } from '../../../core/config/define.ts'
import { refuseOtherApi } from '../../../core/plugins/define.ts'
import type { Plugin, PluginOrigin } from '../../../core/types/plugin/plugin.ts'
import { importModule, placeOfModule } from './import-module.ts'
import type { ModuleGraph } from './module-graph.ts'
import { versionAt } from './package-version.ts'

/**
 * @param specifier `hookgate-plugin-x`, `./plugins/x.ts`, `/srv/plugins/x` or a file: URL. It is never downloaded.
 * @param options of the plugin, for its factory.
 * @param from the file that names it; default: one in the working directory.
 * @param onGraph gets the plugin's own files.
 * @throws Error naming the plugin as it was named, and the fix.
 */
export async function loadPlugin(
  specifier: string,
  options: Readonly<Record<string, unknown>> = {},
  from: string = resolve('gateway.config.ts'),
  onGraph?: (graph: ModuleGraph) => void,
): Promise<Plugin> {
  const where = placeOf(specifier, from)
  const made = madeBy(await exportsOf(specifier, where, from, onGraph), specifier, options)
  refuseOtherApi(made)
  return { ...made, origin: await originOf(specifier, where, from) }
}

async function originOf(specifier: string, where: string, from: string): Promise<PluginOrigin> {
  const kind = where === specifier && !isAbsolute(specifier) ? 'package' : 'file'
  const version = versionAt(kind === 'file' ? where : await placeOfModule(specifier, from))
  return { kind, specifier: isAbsolute(specifier) ? basename(specifier) : specifier, ...(version === null ? {} : { version }) }
}

/** Loads the plugins of a configuration file in their order. @throws Error as loadPlugin does, with the place in the list. */
export async function loadNamed(
  plugins: readonly (Plugin | PluginReference)[],
  from: string,
  onGraph?: (graph: ModuleGraph) => void,
): Promise<Plugin[]> {
  const loaded: Plugin[] = []
  for (const [index, entry] of plugins.entries()) {
    const reference = typeof entry === 'string' ? { plugin: entry } : entry
    if (!isReference(reference)) {
      loaded.push(reference as Plugin)
      continue
    }
    try {
      loaded.push(await loadPlugin(reference.plugin, reference.options, from, onGraph))
    } catch (error) {
      throw new Error(`plugins.${index}: ${(error as Error).message}`, { cause: error })
    }
  }
  return loaded
}

function isReference(entry: unknown): entry is Exclude<PluginReference, string> {
  return typeof entry === 'object' && entry !== null && 'plugin' in entry && typeof entry.plugin === 'string'
}

/** Returns an absolute path, or a package name unchanged. */
function placeOf(specifier: string, from: string): string {
  if (specifier.startsWith('file:')) return existing(fileURLToPath(specifier), specifier)
  if (/^[a-z][\w+.-]+:/i.test(specifier))
    throw new Error(`\`${specifier}\` is an address: plugins are loaded from packages and files. Install it, and name it.`)
  if (/^(?:\.{0,2}[\\/]|[a-z]:[\\/])/i.test(specifier)) return existing(resolve(dirname(from), specifier), specifier)
  if (!PACKAGE.test(specifier))
    throw new Error(`\`${specifier}\` is neither the name of a package nor a path: paths begin with \`./\`, \`../\` or \`/\`.`)
  return specifier
}

const PACKAGE = /^(?:@[\w.-]+\/)?[\w-][\w.-]*(?:\/[\w./-]+)?$/

function existing(path: string, specifier: string): string {
  if (existsSync(path)) return path
  throw new Error(`The plugin \`${specifier}\` does not exist: there is no ${path}.`)
}

async function exportsOf(
  specifier: string,
  where: string,
  from: string,
  onGraph: ((graph: ModuleGraph) => void) | undefined,
): Promise<Readonly<Record<string, unknown>>> {
  try {
    return await importModule(where, { from, ...(onGraph ? { onGraph } : {}) })
  } catch (error) {
    const { message } = error as Error
    if (isMissing(error) && message.includes(`'${where}'`) && where === specifier)
      throw new Error(
        `The plugin \`${specifier}\` is not installed where ${from} finds it. Run \`npm install ${specifier}\` there, or begin a path with \`./\`.`,
        { cause: error },
      )
    throw new Error(`The plugin \`${specifier}\` could not be loaded: ${message}`, { cause: error })
  }
}

function isMissing(error: unknown): boolean {
  const { code } = error as { code?: unknown }
  return code === 'MODULE_NOT_FOUND' || code === 'ERR_MODULE_NOT_FOUND'
}

const WRAPPED = "`export default definePlugin({ name: '…', setup(gateway) { … } })`."

/** Accepts the default export or the only one: a factory, or a finished plugin. */
function madeBy(
  exported: Readonly<Record<string, unknown>>,
  specifier: string,
  options: Readonly<Record<string, unknown>>,
): Plugin {
  const names = Object.keys(exported).filter((name) => name !== '__esModule')
  const found = exported.default ?? (names.length === 1 ? exported[names[0] as string] : undefined)
  if (isPlugin(found)) {
    if (Object.keys(options).length === 0) return found
    throw new Error(`The plugin \`${specifier}\` takes no options: its module exports it made. Leave \`options\` out.`)
  }
  let made: unknown
  try {
    made = typeof found === 'function' ? found(options) : undefined
  } catch (error) {
    throw new Error(
      `The plugin \`${specifier}\` could not be made: ${(error as Error).message}. If its default export is the setup itself, wrap it: ${WRAPPED}`,
      {
        cause: error,
      },
    )
  }
  if (isPlugin(made)) return made
  if (typeof found === 'function')
    throw new Error(
      `The default export of \`${specifier}\` is a function that returned ${made === undefined ? 'nothing' : 'no plugin'}. Wrap it: ${WRAPPED}`,
    )
  const seen = names.length === 0 ? 'nothing' : names.join(', ')
  throw new Error(`\`${specifier}\` is no plugin: its default export must be what definePlugin returned, and it exports ${seen}.`)
}

function isPlugin(value: unknown): value is Plugin {
  return typeof value === 'object' && value !== null && 'definition' in value && 'name' in value
}
