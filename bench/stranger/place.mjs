// Packs hookgate and the example packages, and installs the tarballs with the hosts' packages into an empty folder.
import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { HOSTS } from './hosts.mjs'

const ROOT = resolve(import.meta.dirname, '../..')
export const PACKAGES = ['hookgate-plugin-stamp', 'hookgate-plugin-figures', 'hookgate-provider-small']

/** @returns { versions } of the hosts, by package */
export function install(folder, { again, say }) {
  const record = join(folder, 'installed.json')
  if (!again && existsSync(record)) return JSON.parse(readFileSync(record, 'utf8'))
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, 'package.json'), '{ "name": "stranger", "private": true, "type": "module" }\n')
  say('Packing hookgate and three packages.')
  const tarballs = [pack(ROOT, folder), ...PACKAGES.map((name) => pack(join(ROOT, 'examples/packages', name), folder))]
  const others = [...new Set(HOSTS.flatMap(({ packages }) => packages))]
  say(`Installing them, ${others.join(', ')}.`)
  npm(folder, 'install', '--save', ...tarballs.map((path) => `file:${path}`), ...others)
  const versions = Object.fromEntries(
    others.map((name) => [name, JSON.parse(readFileSync(join(folder, 'node_modules', name, 'package.json'), 'utf8')).version]),
  )
  const packed = { versions }
  writeFileSync(record, JSON.stringify(packed))
  return packed
}

/** Returns the path of the tarball. */
function pack(source, folder) {
  const [{ filename }] = JSON.parse(npm(source, 'pack', '--json', '--ignore-scripts', '--pack-destination', folder))
  return join(folder, filename)
}

export function npm(cwd, ...args) {
  return execFileSync('npm', [...args, '--no-audit', '--no-fund', '--loglevel=error'], {
    cwd,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
    timeout: 600_000,
  })
}
