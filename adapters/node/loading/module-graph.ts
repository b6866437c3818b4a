// Lists the files that a user's module imports, read from the disk. Packages below node_modules are not followed.
import { createHash } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { dirname, extname, resolve as resolvePath } from 'node:path'

export interface ModuleFile {
  readonly path: string
  readonly source: string
  readonly digest: string
  /** Paths of the user's own files that it imports. */
  readonly imports: readonly string[]
  /** Those that it always imports: statically, not by a call. */
  readonly always: readonly string[]
}

export interface ModuleGraph {
  /** By path; a file comes after the files that it imports, except in a cycle. */
  readonly files: ReadonlyMap<string, ModuleFile>
  /** Imported paths that do not exist, without the extension if the import has none. */
  readonly missing: readonly string[]
}

/** Returns the path of an import; undefined when there is none, or when it is not the user's own file. */
export type Resolve = (specifier: string, importer: string) => string | undefined

/** Never throws: a file that cannot be read has no entry. */
export function moduleGraph(entry: string, resolve: Resolve): ModuleGraph {
  const files = new Map<string, ModuleFile>()
  const missing: string[] = []
  const seen = new Set<string>()
  visit(entry)
  return { files, missing }

  function visit(path: string): void {
    if (seen.has(path)) return
    seen.add(path)
    const source = textOf(path)
    if (source === null) return
    const found = MODULES.has(extname(path)) ? importsOf(source, path) : new Map<string, boolean>()
    const imports = [...found.keys()]
    for (const imported of imports) visit(imported)
    const always = imports.filter((imported) => found.get(imported))
    files.set(path, { path, source, digest: createHash('sha256').update(source).digest('hex'), imports, always })
  }

  /** Returns for each path whether it is always imported. */
  function importsOf(source: string, path: string): Map<string, boolean> {
    const found = new Map<string, boolean>()
    const code = source.replace(COMMENT_OR_STRING, (match) => (match.startsWith('/') ? ' ' : match))
    for (const [, call, , specifier = ''] of code.matchAll(SPECIFIER)) {
      const target = resolve(specifier, path)
      if (target !== undefined && existsSync(target)) {
        if (!/[\\/]node_modules[\\/]/.test(target)) found.set(target, found.get(target) === true || call === '')
      } else if (specifier.startsWith('.')) missing.push(resolvePath(dirname(path), specifier))
    }
    return found
  }
}

const MODULES = new Set(['.js', '.mjs', '.cjs', '.ts', '.mts', '.cts', '.tsx', '.jsx'])

const COMMENT_OR_STRING = /\/\*[\s\S]*?\*\/|\/\/[^\n]*|(['"])(?:\\.|(?!\1)[^\\\n])*\1/g
/** The second group is empty for `import … from 'x'`, and `(` for calls. */
const SPECIFIER = /\b(?:from|import|require)\s*(\(?)\s*(['"`])([^'"`\n]+)\2/g

function textOf(path: string): string | null {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return null
  }
}
