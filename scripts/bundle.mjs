// Joins the built modules behind each entry of the package into a few files, because Node opens hundreds of small ones slowly. The entries
// keep their paths. Modules that several entries use are in dist/chunks, so that a process loads each module once.
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join, relative, resolve, sep } from 'node:path'
import { rolldown } from 'rolldown'
import { HTTP, inAscii, joinedMetrics, lateExpressions, lateHttp, latePrices } from './bundle-late.mjs'

const ROOT = resolve(import.meta.dirname, '..')
const DIST = join(ROOT, 'dist')
const { exports: entries, bin } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'))

/** Small packages that each process needs. Joined, they cost no files of their own, and only what is used of them is loaded. */
const JOINED = ['@pydantic/genai-prices', 'citty', 'destr', 'hookable', 'ipaddr.js', 're2js', 'unstorage', 'uuid', 'zod']
/** The files of it that a gateway needs at its start. The rest of the package is loaded with the first scrape. */
const JOINED_METRICS = 'prom-client/lib/'

/** Files that a thread or a child process begins with. */
const STARTED = /\/(?:\w+-)?(?:worker|child)\.js$/

const built = readdirSync(DIST, { recursive: true, encoding: 'utf8' })
  .map((path) => `./dist/${path.split(sep).join('/')}`)
  .filter((path) => path.endsWith('.js') && !path.startsWith('./dist/chunks/'))
  // A file whose source has moved is left over from an earlier build.
  .filter((path) => existsSync(join(ROOT, path.replace(/^\.\/dist\/(.*)\.js$/, '$1.ts'))))
const named = [...Object.values(entries).map((entry) => entry.default ?? entry), ...Object.values(bin)]
const patterns = named.map((path) => new RegExp(`^${path.replaceAll('.', '\\.').replace('*', '[^/]+')}$`))
const inputs = built.filter((path) => STARTED.test(path) || patterns.some((pattern) => pattern.test(path)))

/** Modules find files beside them by their own address, which the bundle must not change. */
const ownAddress = {
  name: 'own-address',
  transform(code, id) {
    if (!code.includes('import.meta.url')) return null
    const path = relative(DIST, id).split(sep).join('/')
    const address = `new URL(${JSON.stringify(path)}, import.meta.url.replace(/^(.*\\/dist\\/).*$/, '$1')).href`
    return { code: code.replaceAll('import.meta.url', address) }
  },
}

const deferredZod = join(DIST, 'core/schema/deferred-zod.js')

/** zod is a hundred files, half of them messages in other languages. It is joined with the rest, and its schemas are built on first use. */
const ownZod = {
  name: 'own-zod',
  resolveId: (id, importer) => (id === 'zod' && importer !== deferredZod ? deferredZod : null),
  load: (id) => (/\/zod\/v4\/locales\/index\.js$/.test(id.split(sep).join('/')) ? 'export {}' : null),
}

/** @throws Error for a character that cannot be written as an escape. */
function asciiOf({ fileName, code }) {
  if (/\\[^\0-\x7f]|String\.raw`[^`]*[^\0-\x7f`]/.test(code)) throw new Error(`${fileName}: a character that has no escape`)
  return inAscii(code)
}

/** The bundler gives each dynamic import of a part of a chunk a file of its own, which Node would open, too. */
function facadeOf({ fileName, code }) {
  const [, names, target] = /^export \{([^{}]+)\} from "(\.[^"]+)";\s*$/.exec(code) ?? []
  if (names === undefined) return []
  const members = names.split(',').map((name) => name.trim().split(' as '))
  const picked = members.map(([from, as = from]) => `${as}: part.${from}`).join(', ')
  return [[join(DIST, fileName), { target: resolve(DIST, dirname(fileName), target), picked }]]
}

function withoutFacades({ fileName, code }) {
  const folder = resolve(DIST, dirname(fileName))
  return code.replace(/\bimport\("(\.[^"]+)"\)/g, (whole, name) => {
    const facade = facades.get(resolve(folder, name))
    if (facade === undefined) return whole
    const path = relative(folder, facade.target).split(sep).join('/')
    return `import("${path.startsWith('.') ? path : `./${path}`}").then((part) => ({ ${facade.picked} }))`
  })
}

/** Returns the modules that are loaded with these entries; a dynamic import is loaded later. */
function loadedWith(...paths) {
  const found = new Set()
  const visit = (path) => {
    if (found.has(path)) return
    found.add(path)
    for (const [, name] of readFileSync(path, 'utf8').matchAll(/^(?:import|export)\b[^'"()=;]*?['"](\.[^'"]+)['"]/gm))
      visit(resolve(dirname(path), name))
  }
  for (const path of paths) visit(join(DIST, path))
  return found
}

const core = loadedWith('core/index.js')
const edge = loadedWith('adapters/edge/index.js')
const node = loadedWith('adapters/node/index.js')
const help = loadedWith('adapters/cli/main.js', 'adapters/cli/command-line.js')
const version = loadedWith('adapters/cli/main.js')
const quick = loadedWith('adapters/cli/quick/quick.js', 'adapters/cli/resources/key.js', 'adapters/cli/resources/token.js')
const served = loadedWith('adapters/cli/serve/serve.js', 'adapters/cli/workers/seat.js')
const database = loadedWith('adapters/stores/sqlite.js')
const booted = loadedWith(
  ...['node/ports', 'node/stores'].map((name) => `adapters/${name}.js`),
  ...['joined-writes', 'unasked-continue'].map((name) => `adapters/transport/${name}.js`),
)
const ownedBy = (id, ...packages) => packages.some((name) => id.includes(join('node_modules', name, sep)))
// A module belongs to the first group that has it. Other runtimes load no chunk with Node's modules, and `import 'hookgate'` loads neither
// dialects nor transports: the first gateway does.
const groups = [
  // The version and the texts of the command line, which `--version` and `--help` load without the rest of the core.
  { name: 'text', test: (id) => core.has(id) && help.has(id) },
  { name: 'command', test: (id) => (help.has(id) && !edge.has(id) && !version.has(id)) || ownedBy(id, 'citty') },
  // Commands like `key list` load these four without the rest.
  { name: 'base', test: (id) => (core.has(id) && quick.has(id)) || id === deferredZod || ownedBy(id, 'uuid', 'zod') },
  { name: 'providers', test: (id) => edge.has(id) && quick.has(id) },
  { name: 'tables', test: (id) => quick.has(id) && node.has(id) },
  { name: 'quick', test: (id) => quick.has(id) && !version.has(id) },
  { name: 'core', test: (id) => core.has(id) || ownedBy(id, 'destr', 'hookable', 'ipaddr.js', 'unstorage') },
  { name: 'shared', test: (id) => edge.has(id) && node.has(id) },
  { name: 'edge', test: (id) => edge.has(id) },
  { name: 'node', test: (id) => node.has(id) || id === HTTP || ownedBy(id, 're2js') },
  { name: 'sqlite', test: (id) => database.has(id) },
  // The first gateway of a process, and the command that serves one.
  { name: 'gateway', test: (id) => booted.has(id) },
  { name: 'serve', test: (id) => served.has(id) && !version.has(id) },
].map((group, index, all) => ({ ...group, priority: all.length - index, includeDependenciesRecursively: false }))

rmSync(join(DIST, 'chunks'), { recursive: true, force: true })
const bundle = await rolldown({
  cwd: ROOT,
  input: Object.fromEntries(inputs.map((path) => [path.slice('./dist/'.length, -'.js'.length), path])),
  external: (id, importer) =>
    /^[^./\0]/.test(id) &&
    !JOINED.includes(id) &&
    !id.startsWith(JOINED_METRICS) &&
    !(id === 'util' && importer.includes(join('node_modules', JOINED_METRICS))) &&
    id !== deferredZod &&
    !(id === 'node:http' && node.has(importer)),
  // The core runs on other platforms too: the bundler's own helpers must not import modules of Node.
  platform: 'neutral',
  resolve: { mainFields: ['module', 'main'], conditionNames: ['import', 'default'] },
  preserveEntrySignatures: 'allow-extension',
  plugins: [ownAddress, ownZod, lateExpressions, lateHttp, latePrices, joinedMetrics],
})
const { output } = await bundle.write({
  dir: DIST,
  format: 'esm',
  entryFileNames: '[name].js',
  chunkFileNames: 'chunks/[name]-[hash].js',
  codeSplitting: { groups },
  comments: { annotation: false, jsdoc: false, legal: true },
})
await bundle.close()
const chunks = output.filter(({ type }) => type === 'chunk')
const facades = new Map(chunks.flatMap(facadeOf))
for (const file of chunks) {
  const path = join(DIST, file.fileName)
  if (facades.has(path) && !file.isEntry) rmSync(path)
  else writeFileSync(path, asciiOf({ ...file, code: withoutFacades(file) }))
}
writeFileSync(
  join(DIST, 'chunks/LICENSES.txt'),
  [...JOINED, 'prom-client']
    .map((name) => {
      const folder = join(ROOT, 'node_modules', name)
      const license = readdirSync(folder).find((file) => /^licen[cs]e/i.test(file))
      if (license === undefined) throw new Error(`${name} has no license file to go with its code.`)
      return `${name}\n\n${readFileSync(join(folder, license), 'utf8').trim()}\n`
    })
    .join('\n----\n\n'),
)
