// Loads a module that imports `hookgate`: TypeScript or JavaScript, in any folder. Its `hookgate` is the running code. Unchanged files
// keep their modules since the last load, so that a reload keeps the plugins that they define.
import { existsSync } from 'node:fs'
import { createRequire, Module } from 'node:module'
import { fileURLToPath, pathToFileURL } from 'node:url'
import type { Jiti } from 'jiti'
import { type ModuleFile, type ModuleGraph, moduleGraph } from './module-graph.ts'
import { OWN, ownEntries, sharedEntries } from './own-entries.ts'

export interface ImportOptions {
  /** The file or folder from which package names are resolved; default: this one. */
  from?: string
  /** Runs the module itself again even when it has not changed: it may read files or variables. */
  again?: boolean
  /** Gets the graph before any code runs, so that it is known when the load fails. */
  onGraph?(graph: ModuleGraph): void
}

type Exports = Readonly<Record<string, unknown>>

export async function importModule(specifier: string, options: ImportOptions = {}): Promise<Exports> {
  const from = options.from ?? import.meta.url
  await shareOwnModules()
  const { createJiti } = await import('jiti')
  const jiti = createJiti(from, { fsCache: false, alias: ownEntries(), interopDefault: false })
  const resolve = (name: string, importer?: string): string | undefined => {
    const path = pathOf(jiti.esmResolve(name, importer === undefined ? { try: true } : { try: true, parentURL: importer }))
    return path === undefined || OWN.some((folder) => path.startsWith(folder)) ? undefined : path
  }
  const entry = resolve(specifier)
  const graph = entry === undefined ? NOTHING : moduleGraph(entry, resolve)
  options.onGraph?.(graph)
  forgetChanged(graph, options.again === true ? entry : undefined)
  try {
    for (const path of certain(graph, entry)) await evaluated(jiti, graph.files.get(path) as ModuleFile)
    return await jiti.import<Record<string, unknown>>(specifier)
  } finally {
    remember(graph)
  }
}

/** Returns the path of a module that a file imports by package name; null: there is none. */
export async function placeOfModule(specifier: string, from: string): Promise<string | null> {
  const { createJiti } = await import('jiti')
  return pathOf(createJiti(from, { fsCache: false, alias: ownEntries() }).esmResolve(specifier, { try: true })) ?? null
}

const { cache } = createRequire(import.meta.url)
const NOTHING: ModuleGraph = { files: new Map(), missing: [] }

/** Digests of the files whose modules are in `cache`. */
const digests = new Map<string, string>()

/** Drops the modules of changed files and of the files that import them. */
function forgetChanged({ files }: ModuleGraph, again: string | undefined): void {
  const changed = new Set<string>()
  for (const { path, digest } of files.values()) if (path === again || digests.get(path) !== digest) changed.add(path)
  for (let size = -1; size !== changed.size; ) {
    size = changed.size
    for (const { path, imports } of files.values()) if (imports.some((imported) => changed.has(imported))) changed.add(path)
  }
  for (const path of changed) {
    delete cache[path]
    digests.delete(path)
  }
}

function remember({ files }: ModuleGraph): void {
  for (const { path, digest } of files.values()) if (cache[path]?.loaded) digests.set(path, digest)
}

/** Returns the files that this load always runs, in order. */
function certain({ files }: ModuleGraph, entry: string | undefined): string[] {
  const reached = new Set<string>()
  const visit = (path: string): void => {
    if (reached.has(path)) return
    reached.add(path)
    for (const imported of files.get(path)?.always ?? []) visit(imported)
  }
  if (entry !== undefined) visit(entry)
  return [...files.keys()].filter((path) => reached.has(path))
}

/** Runs JavaScript itself: jiti would pass it to Node's `import`, which reads a file only once per process. */
async function evaluated(jiti: Jiti, { path, source }: ModuleFile): Promise<void> {
  if (cache[path]?.loaded || !/\.[cm]?js$/.test(path)) return
  if (path.endsWith('.mjs') || /^\s*(?:import|export)\b/m.test(source)) {
    await jiti.evalModule(source, { filename: path, async: true, forceTranspile: true })
    return
  }
  const exports: unknown = createRequire(path)(path)
  // Follows Node's `import` of CommonJS.
  const open = (typeof exports === 'object' && exports !== null) || typeof exports === 'function'
  if (open && !('default' in exports)) Object.defineProperty(exports, 'default', { value: exports })
}

function pathOf(url: string | undefined): string | undefined {
  return url?.startsWith('file:') ? fileURLToPath(url) : undefined
}

/** Puts the running modules where jiti looks first. With copies of them, each plugin would count as changed at every reload. */
async function shareOwnModules(): Promise<void> {
  for (const path of Object.values(sharedEntries())) {
    if (cache[path] !== undefined || !existsSync(path)) continue
    const exports: unknown = await import(pathToFileURL(path).href)
    cache[path] = Object.assign(new Module(path), { filename: path, loaded: true, exports })
  }
}
