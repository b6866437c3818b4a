// The rules of CONTRIBUTING: allowed imports, file length, and forbidden code.
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { describe, expect, it } from 'vitest'

const ROOT = resolve(import.meta.dirname, '..')
const SOURCES = ['core', 'plugins', 'adapters'].flatMap((folder) => sourceFiles(join(ROOT, folder)))
const FILES = new Map(SOURCES.map((path) => [relative(ROOT, path), readFileSync(path, 'utf8')]))

function sourceFiles(folder: string): string[] {
  return readdirSync(folder).flatMap((name) => {
    const path = join(folder, name)
    if (statSync(path).isDirectory()) return sourceFiles(path)
    return /\.m?[tj]s$/.test(path) ? [path] : []
  })
}

/** Returns relative imports of a file, as paths from the root, types included. */
function imports(file: string): string[] {
  const text = FILES.get(file) as string
  return [...text.matchAll(/^(?:import|export)\b[^'"]*?from '(\.[^']+)'|^import '(\.[^']+)'/gms)].map((match) =>
    relative(ROOT, resolve(ROOT, dirname(file), (match[1] ?? match[2]) as string)),
  )
}

/** Yields names that a file imports or re-exports from another one; `*` for all its types. */
function* imported(file: string): Generator<{ from: string; names: string[] }> {
  for (const [, all, list = '', from = ''] of (FILES.get(file) as string).matchAll(
    /^(?:import|export) (?:type )?(?:(\*)|\{([^}]*)\}) from '(\.[^']+)'/gms,
  )) {
    const names = list.split(',').map((name) =>
      name
        .trim()
        .replace(/^type /, '')
        .replace(/ as .*$/, ''),
    )
    yield { from: relative(ROOT, resolve(ROOT, dirname(file), from)), names: all === undefined ? names.filter(Boolean) : ['*'] }
  }
}

function packages(file: string): string[] {
  const text = FILES.get(file) as string
  return [...text.matchAll(/^(?:import|export)\b[^'"]*?from '([^.'][^']*)'/gms)].map((match) => match[1] as string)
}

const under = (folder: string) => [...FILES.keys()].filter((file) => file.startsWith(`${folder}/`))

describe('floors', () => {
  it('core/types imports only types of core/types', () => {
    for (const file of under('core/types')) {
      for (const target of imports(file)) expect(target, file).toMatch(/^core\/types\//)
      expect(FILES.get(file), file).not.toMatch(/^import (?!type\b)/m)
    }
  })

  it('core imports nothing but core and its few packages', () => {
    const allowed = /^(h3|hookable|zod|unstorage|prom-client(\/lib\/\w+\.js)?|uuid|ofetch)$/
    for (const file of under('core')) {
      for (const target of imports(file)) expect(target, file).toMatch(/^core\//)
      for (const name of packages(file)) expect(name, file).toMatch(allowed)
    }
  })

  it('drivers import core, their own folder and, as dialects, dialects/shared', () => {
    const rules: [string, RegExp][] = [
      ['adapters/providers', /^(core|adapters\/providers)\//],
      ['adapters/transport', /^(core|adapters\/transport)\//],
      ['adapters/stores', /^(core|adapters\/stores)\//],
      ['adapters/vault', /^(core|adapters\/vault)\//],
    ]
    for (const [folder, rule] of rules)
      for (const file of under(folder)) for (const target of imports(file)) expect(target, file).toMatch(rule)
    for (const file of under('adapters/dialects')) {
      const own = file.split('/').slice(0, 3).join('/')
      for (const target of imports(file))
        expect(
          [own, 'adapters/dialects/shared', 'core'].some((root) => target.startsWith(`${root}/`)),
          `${file} → ${target}`,
        ).toBe(true)
    }
  })

  it('a plugin imports core and its own folder, never another plugin and never an adapter', () => {
    for (const file of under('plugins')) {
      if (file === 'plugins/preset.ts') continue
      const own = file.split('/').slice(0, 2).join('/')
      for (const target of imports(file))
        expect(target.startsWith('core/') || target.startsWith(`${own}/`), `${file} → ${target}`).toBe(true)
    }
  })

  it('policy plugins use of core what every plugin may import from hookgate/core, and pure functions', () => {
    const policies =
      /^plugins\/(cache-injection|exact-cache|guardrails|helicone|payload-rules|reasoning-replay|savings|semantic-cache|think-tags|thought-signatures|token-saver|wasm-filters)\//
    const pure = ['bringsSecret', 'Calendar', 'calendarOf', 'entropy', 'monthsOf', 'pathSegments', 'signatureFits']
    const entry = [...imported('core/index.ts')]
    const open = new Set(entry.flatMap(({ names }) => names))
    const whole = new Set(entry.filter(({ names }) => names.includes('*')).map(({ from }) => from))
    for (const file of [...FILES.keys()].filter((path) => policies.test(path)))
      for (const { from, names } of imported(file))
        if (from.startsWith('core/') && from !== 'core/index.ts' && !whole.has(from))
          for (const name of names) expect(open.has(name) || pure.includes(name), `${file}: ${name} of ${from}`).toBe(true)
  })

  it('what plugins declare is named by the preset, or nobody who has only the types could use it', () => {
    const named = imports('plugins/preset.ts')
    for (const file of under('plugins')) if (/^declare module /m.test(FILES.get(file) ?? '')) expect(named).toContain(file)
  })

  it('hosts are imported by nobody but hosts', () => {
    for (const file of [
      ...under('core'),
      ...under('plugins'),
      ...under('adapters/dialects'),
      ...under('adapters/providers'),
      ...under('adapters/transport'),
      ...under('adapters/stores'),
      ...under('adapters/vault'),
    ]) {
      for (const target of imports(file)) expect(target, file).not.toMatch(/^adapters\/(node|edge|cli|simulation|testing)\//)
    }
  })
})

describe('shape', () => {
  it('has no import cycle, type imports included', () => {
    const state = new Map<string, 'open' | 'done'>()
    const path: string[] = []
    const visit = (file: string): void => {
      if (state.get(file) === 'done') return
      if (state.get(file) === 'open') throw new Error(`cycle: ${[...path.slice(path.indexOf(file)), file].join(' → ')}`)
      state.set(file, 'open')
      path.push(file)
      for (const target of imports(file)) if (FILES.has(target)) visit(target)
      path.pop()
      state.set(file, 'done')
    }
    for (const file of FILES.keys()) visit(file)
  })

  it('has no file over 300 lines and none named for nothing', () => {
    const others = ['test', 'examples', 'bench', 'scripts'].flatMap((folder) => sourceFiles(join(ROOT, folder)))
    for (const path of [...SOURCES, ...others]) {
      const file = relative(ROOT, path)
      if (file === 'adapters/client/schema.ts') continue // Generated.
      expect(readFileSync(path, 'utf8').split('\n').length - 1, file).toBeLessThanOrEqual(300)
      expect(file).not.toMatch(/\/(utils|helpers|constants|common|types)\.ts$/)
    }
  })

  it('only entry points re-export', () => {
    const entries = ['core', 'adapters/node', 'adapters/edge', 'adapters/testing', 'adapters/client', 'adapters/ai-sdk'].map(
      (x) => `${x}/index.ts`,
    )
    for (const [file, text] of FILES) if (!entries.includes(file)) expect(text, file).not.toMatch(/^export (\*|\{[^}]*\} from)/m)
  })
})

describe('nothing stray', () => {
  const code = (file: string) => (FILES.get(file) as string).replace(/\/\*[\s\S]*?\*\/|(^|\s)\/\/.*$/gm, '')

  it('reads process.env in hosts only', () => {
    for (const file of FILES.keys())
      if (!/^adapters\/(node|cli|testing)\//.test(file)) expect(code(file), file).not.toMatch(/process\.env/)
  })

  it('takes time from the clock', () => {
    for (const file of FILES.keys()) {
      if (file === 'core/timing/clock.ts' || /^adapters\/(node|cli|testing)\//.test(file)) continue
      expect(code(file), file).not.toMatch(/\bDate\.now\(|\bsetTimeout\(|\bsetInterval\(|\bnew Date\(\)/)
    }
  })

  it('never calls the global fetch', () => {
    for (const file of FILES.keys()) expect(code(file), file).not.toMatch(/(?<![.\w])fetch\((?!request|path)/)
  })

  // Workers have no sockets: fetch() is the only way out there. Everywhere else undici has timeouts, proxies and half the CPU time.
  it('takes the global fetch as a value in the transport on fetch, the edge host and the two clients only', () => {
    const found = [...FILES.keys()].filter((file) => /(?<!typeof )globalThis\.fetch\b/.test(code(file)))
    expect(found.sort()).toEqual([
      'adapters/ai-sdk/connection.ts',
      'adapters/client/send.ts',
      'adapters/edge/gateway.ts',
      'adapters/transport/fetch.ts',
    ])
  })

  it('loads no undici, no file, no thread and no native module in hookgate/edge', () => {
    const seen = new Set<string>()
    const visit = (file: string): void => {
      if (seen.has(file) || !FILES.has(file)) return
      seen.add(file)
      const values = code(file).replace(/^(?:import|export) type\b[^'"]*?from '[^']+'/gms, '')
      for (const [, name = ''] of values.matchAll(/^(?:import|export)\b[^'"]*?from '([^']+)'/gms)) {
        if (name.startsWith('.')) visit(relative(ROOT, resolve(ROOT, dirname(file), name)))
        else expect(name, file).toMatch(/^(?:h3|hookable|zod|unstorage|prom-client|uuid|ofetch|ipaddr\.js|node:crypto)(?:\/|$)/)
      }
    }
    visit('adapters/edge/index.ts')
    expect(seen.size).toBeGreaterThan(300)
  })

  it('installs exactly one h3', () => {
    const { version } = JSON.parse(readFileSync(join(ROOT, 'node_modules/h3/package.json'), 'utf8')) as { version: string }
    expect(version).toMatch(/^2\./)
  })

  it('loads only files that exist from the benchmarks', () => {
    for (const name of readdirSync(join(ROOT, 'bench')).filter((name) => name.endsWith('.mjs'))) {
      const text = readFileSync(join(ROOT, 'bench', name), 'utf8')
      for (const [, path = ''] of text.matchAll(/\.import\('(\.[^']+)'\)/g))
        expect(existsSync(join(ROOT, 'bench', path)), `${name} → ${path}`).toBe(true)
    }
  })

  it('exports each plugin of the preset by name and as default', () => {
    for (const [file, text] of FILES)
      if (/^plugins\/[^/]+\/index\.ts$/.test(file)) expect(text, file).toMatch(/^export default \w+$/m)
  })

  it('says the version of package.json', async () => {
    const { VERSION } = await import('../core/version.ts')
    expect((JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { version: string }).version).toBe(VERSION)
  })
})
