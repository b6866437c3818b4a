// Installs the runtimes' binaries, and hookgate as users receive it, into a folder outside the project.
import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'

const ROOT = resolve(import.meta.dirname, '../..')
const FOLDER = join(tmpdir(), 'hookgate-runtimes')
const CPU = { x64: { bun: 'x64', deno: 'x64', cloudflare: '64' }, arm64: { bun: 'aarch64', deno: 'arm64', cloudflare: 'arm64' } }[
  process.arch
]

/** Packages that hold a binary for Linux; their wrappers would fetch one in a script. `file` is its path in the package. */
export const RUNTIMES = {
  node: { name: 'Node', version: '24.21.0', package: `node-linux-${process.arch}`, file: 'bin/node' },
  bun: { name: 'Bun', version: '1.4.5', package: `@oven/bun-linux-${CPU?.bun}`, file: 'bin/bun' },
  deno: { name: 'Deno', version: '2.9.6', package: `@deno/linux-${CPU?.deno}-glibc`, file: 'deno' },
  workerd: {
    name: 'workerd',
    version: '1.20261117.1',
    package: `@cloudflare/workerd-linux-${CPU?.cloudflare}`,
    file: 'bin/workerd',
  },
}

const npm = (cwd, ...args) =>
  execFileSync('npm', [...args, '--no-audit', '--no-fund', '--loglevel=error'], {
    cwd,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
  })

/** Returns the path of the binary. @throws Error when this machine cannot have it. */
export function installRuntime(id) {
  const { version, package: name, file } = RUNTIMES[id]
  if (process.platform !== 'linux') throw new Error(`the lane installs binaries for Linux only, not for ${process.platform}`)
  const folder = join(FOLDER, `${id}-${version}`)
  const path = join(folder, 'node_modules', name, file)
  if (!existsSync(path)) {
    emptyProject(folder)
    npm(folder, 'install', '--ignore-scripts', `${name}@${version}`)
  }
  return path
}

/** Returns a folder in which `hookgate` is installed from its tarball, without optional packages. @throws Error when an installed package has an install script. */
export function installHookgate() {
  const folder = join(FOLDER, 'app')
  emptyProject(folder)
  const [{ filename }] = JSON.parse(npm(ROOT, 'pack', '--json', '--ignore-scripts', '--pack-destination', folder))
  npm(folder, 'install', '--ignore-scripts', '--omit=optional', `./${filename}`)
  const { packages } = JSON.parse(readFileSync(join(folder, 'node_modules/.package-lock.json'), 'utf8'))
  // The binary of Argon2 is an optional package as well; docs/runtimes.md says so.
  const { version } = packages['node_modules/@node-rs/argon2']
  npm(folder, 'install', '--ignore-scripts', '--omit=optional', `@node-rs/argon2-linux-${process.arch}-gnu@${version}`)
  const scripted = Object.keys(packages).filter((path) => packages[path].hasInstallScript && !packages[path].optional)
  if (scripted.length > 0) throw new Error(`an installation of hookgate runs scripts: ${scripted.join(', ')}`)
  return folder
}

function emptyProject(folder) {
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, 'package.json'), '{ "name": "runtimes", "private": true, "type": "module" }\n')
}
