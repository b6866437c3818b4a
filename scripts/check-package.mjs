// Checks the package as users receive it: its manifest, its types in every export, and that no file or export is unused. `npm run
// check:package` builds first. The consumer uses no flag that hides errors in declaration files.
import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'

const root = resolve(import.meta.dirname, '..')
const dir = mkdtempSync(join(tmpdir(), 'hookgate-package-'))
let failed = false

/** A tool that npm fetches, because it is not a dependency. */
const fetched = (name, command, ...args) => ['npm', ['exec', '--yes', `--package=${name}`, '--', command, ...args]]

function run(title, command, args, cwd = root) {
  process.stdout.write(`${title} … `)
  const started = performance.now()
  try {
    execFileSync(command, args, { cwd, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] })
    console.log(`ok (${((performance.now() - started) / 1000).toFixed(1)} s)`)
  } catch (error) {
    failed = true
    console.log(`failed\n${error.stdout}${error.stderr}`)
  }
}

/** Imports every export, so that each declaration file is compiled. */
function consumer() {
  const plugins = readdirSync(join(root, 'plugins')).filter((name) => existsSync(join(root, 'plugins', name, 'index.ts')))
  // A driver of unstorage (stores/redis-storage) has the library's own types, which do not compile without `skipLibCheck`.
  const drivers = [
    ...['chat', 'messages', 'responses', 'generate-content'].map((name) => `dialects/${name}`),
    ...['providers', 'vault', 'stores/open-database', 'stores/sqlite', 'stores/postgres', 'transport/undici'],
  ]
  const modules = [
    'hookgate',
    'hookgate/core',
    'hookgate/edge',
    'hookgate/preset',
    'hookgate/testing',
    'hookgate/client',
    'hookgate/ai-sdk',
    ...plugins.map((name) => `hookgate/plugins/${name}`),
    ...drivers.map((name) => `hookgate/adapters/${name}`),
  ]
  const lines = modules.map((name, index) => `import * as m${index} from '${name}'\nconsole.log(m${index})`)
  return `${lines.join('\n')}\n`
}

const OPTIONS = {
  module: 'nodenext',
  target: 'es2023',
  types: ['node'],
  strict: true,
  exactOptionalPropertyTypes: true,
  noUncheckedIndexedAccess: true,
  noPropertyAccessFromIndexSignature: true,
  verbatimModuleSyntax: true,
  isolatedModules: true,
  skipLibCheck: false,
  noEmit: true,
}

try {
  const bin = (name) => join(root, 'node_modules', '.bin', name)
  execFileSync('npm', ['pack', '--silent', '--ignore-scripts', '--pack-destination', dir], { cwd: root, stdio: 'ignore' })
  const tarball = join(
    dir,
    readdirSync(dir).find((name) => name.endsWith('.tgz')),
  )
  run('publint', bin('publint'), ['run', tarball, '--strict'])
  run('are the types wrong', bin('attw'), [tarball, '--profile', 'esm-only', '--no-emoji'])
  // Not a dependency: `npm ci` needs each optional platform package of its parser, and some registry mirrors lack some of them.
  run('knip', ...fetched('knip@6.44.2', 'knip'))
  // The consumer uses the dependencies of this checkout, and the packed package.
  const modules = join(dir, 'node_modules')
  mkdirSync(join(modules, 'hookgate'), { recursive: true })
  for (const name of readdirSync(join(root, 'node_modules')).filter((name) => !name.startsWith('.')))
    symlinkSync(join(root, 'node_modules', name), join(modules, name))
  execFileSync('tar', ['-xzf', tarball, '--strip-components=1', '-C', join(modules, 'hookgate')])
  writeFileSync(join(dir, 'package.json'), JSON.stringify({ type: 'module' }))
  writeFileSync(join(dir, 'tsconfig.json'), JSON.stringify({ compilerOptions: OPTIONS, files: ['all.ts'] }))
  writeFileSync(join(dir, 'all.ts'), consumer())
  // Not dependencies: each version would install a command `tsc`. 5.4 is the oldest that compiles the declarations.
  const oldest = { ...OPTIONS, target: 'es2022' }
  writeFileSync(join(dir, 'tsconfig.oldest.json'), JSON.stringify({ compilerOptions: oldest, files: ['all.ts'] }))
  run('a strict consumer, TypeScript 5.4', ...fetched('typescript@5.4', 'tsc', '-p', join(dir, 'tsconfig.oldest.json')))
  run('a strict consumer, TypeScript 5.9', ...fetched('typescript@5.9', 'tsc', '-p', dir))
  run('a strict consumer, TypeScript 7', bin('tsc'), ['-p', dir])
} finally {
  rmSync(dir, { recursive: true, force: true })
}
process.exitCode = failed ? 1 : 0
