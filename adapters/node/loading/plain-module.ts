// Runs a configuration file that is plain JavaScript and imports nothing but entries of this package. jiti would load Babel for it, which
// takes a quarter of the start of a server. Every other file, and every syntax error, is for jiti.
import { createHash } from 'node:crypto'
import { pathToFileURL } from 'node:url'
import { compileFunction } from 'node:vm'
import type { ModuleGraph } from './module-graph.ts'
import { sharedEntries } from './own-entries.ts'
import { readFile } from './read-file.ts'

type Exports = Readonly<Record<string, unknown>>

export interface PlainModule {
  readonly graph: ModuleGraph
  /** It calls nothing but functions that it imports, and so does the same however often it runs. */
  readonly declares: boolean
  /** Runs the file. @throws what the file throws */
  run(): Promise<Exports>
}

/** Loads an entry of this package; null: there is none of this name. */
export type LoadEntry = (name: string) => (() => Promise<Exports>) | null

/** Returns null when the file is not of this kind, or cannot be read. Does not run it. */
export function plainModule(path: string, entries: LoadEntry = entriesOf(sharedEntries())): PlainModule | null {
  const source = readFile(path)
  const parts = source === null ? null : partsOf(source)
  if (source === null || parts === null) return null
  const loads = parts.imports.map(entries)
  if (loads.includes(null)) return null
  let evaluate: (modules: readonly Exports[], exports: { default?: unknown }) => void
  try {
    evaluate = compileFunction(`'use strict';${parts.code}`, ['$modules', '$exports'], {
      filename: path,
      columnOffset: -"'use strict';".length,
    }) as typeof evaluate
  } catch {
    return null
  }
  const digest = createHash('sha256').update(source).digest('hex')
  return {
    graph: { files: new Map([[path, { path, source, digest, imports: [], always: [] }]]), missing: [] },
    declares: parts.declares,
    async run() {
      const modules = await Promise.all(loads.map((load) => (load as () => Promise<Exports>)()))
      const exports: { default?: unknown } = {}
      evaluate(modules, exports)
      return exports
    },
  }
}

function entriesOf(paths: Readonly<Record<string, string>>): LoadEntry {
  return (name) => {
    const path = Object.hasOwn(paths, name) ? paths[name] : undefined
    return path === undefined ? null : () => import(pathToFileURL(path).href) as Promise<Exports>
  }
}

interface Parts {
  /** Names of the imported entries. */
  readonly imports: readonly string[]
  readonly declares: boolean
  /** The body of a function of `$modules` and `$exports`, with the lines of the source. */
  readonly code: string
}

const IMPORT = /^(\s*)import\s+(?:(type)\s+)?\{([\w$\s,]*)\}\s*from\s*(?:"( *)"|'( *)')[ \t]*;?/
const DEFAULT = /\bexport\s+default\b/g
/** Words of modules that only jiti knows, and of this file. JavaScript would read `f<T>(x)` as comparisons. */
const FOREIGN = /\b(?:import|export|require|module|exports|jiti|__dirname|__filename)\b|\$(?:modules|exports)\b|</

/** Finds the name before an opening bracket. */
const CALL = /([\w$.]*|\S)\s*\(/g

function partsOf(source: string): Parts | null {
  const blank = blanked(source)
  if (blank === null) return null
  const imports: string[] = []
  const callable = new Set<string>()
  let code = ''
  let at = 0
  for (let found = IMPORT.exec(blank); found !== null; found = IMPORT.exec(blank.slice(at))) {
    const [whole, , type, names = ''] = found
    const name = /(["'])([^"']*)\1[ \t]*;?$/.exec(source.slice(at, at + whole.length))?.[2] ?? ''
    const taken = type === undefined ? takenNames(names) : ''
    if (taken === null) return null
    for (const each of taken.split(', ')) callable.add(each.split(': ').at(-1) as string)
    // Keeps the lines of the file.
    const lines = whole.replace(/[^\n]/g, '')
    code += type === undefined ? `${lines}const {${taken}} = $modules[${imports.push(name) - 1}];` : lines
    at += whole.length
  }
  const rest = blank.slice(at)
  const exported = [...rest.matchAll(DEFAULT)]
  const [only] = exported
  if (only === undefined || exported.length > 1 || FOREIGN.test(rest.replace(DEFAULT, ''))) return null
  const from = at + only.index
  const declares = [...rest.matchAll(CALL)].every(([, called = '']) => callable.has(called.split('.', 1)[0] as string))
  return { imports, declares, code: `${code}${source.slice(at, from)};$exports.default =${source.slice(from + only[0].length)}` }
}

/** `a, b as c, type D` → `a, b: c`; null for another form. */
function takenNames(names: string): string | null {
  const taken: string[] = []
  for (const each of names.split(',').map((text) => text.trim())) {
    const [, type, name, alias] = /^(type\s+)?([\w$]+)(?:\s+as\s+([\w$]+))?$/.exec(each) ?? []
    if (name === undefined && each !== '') return null
    if (name !== undefined && type === undefined) taken.push(alias === undefined ? name : `${name}: ${alias}`)
  }
  return taken.join(', ')
}

const TOKEN = /\/\/[^\n]*|\/\*[\s\S]*?\*\/|"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|`(?:[^`\\]|\\[\s\S])*`|[`/"']/g
/** A part of a template: an escape, an expression without strings and brackets of objects, or a character. */
const IN_TEMPLATE = /\\[\s\S]|\$\{([^{}"'`/\\]*)\}|\$\{|[\s\S]/g

/** A template behind a name or a bracket calls a function. Only the first quote of a template is left. */
const TAGGED = /[\w$)\]]\s*`/

/**
 * Returns the source with spaces for comments and the content of strings, and with the expressions of templates; null for regular
 * expressions, divisions, tagged templates, and templates whose expressions have strings or objects.
 */
function blanked(source: string): string | null {
  let plain = true
  const text = source.replace(TOKEN, (token) => {
    if (token.length === 1) plain = false
    if (token.startsWith('/')) return spaces(token)
    if (!token.startsWith('`')) return `${token[0]}${' '.repeat(Math.max(token.length - 2, 0))}${token.at(-1)}`
    return token.replace(IN_TEMPLATE, (part: string, expression: string | undefined, at: number) => {
      if (expression !== undefined) return `  ${expression} `
      if (part === '${') plain = false
      return at === 0 ? part : spaces(part)
    })
  })
  return plain && !TAGGED.test(text) ? text : null
}

function spaces(text: string): string {
  return text.replace(/[^\n]/g, ' ')
}
