// npm run release: fills a folder that GATEWAY_DIST_DIR serves under /dl/.
//
//   --out <folder>   default: release
//   --url <address>  the address that install.sh fetches from, such as https://gateway.example/dl
//
// It writes the npm package, an archive for this platform (a launcher, the package and its dependencies; it needs Node, and nothing else),
// install.sh, and latest.json with the sha256 of each file. On another platform, run it again with the same folder: latest.json then
// names the archives of both.
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { chmodSync, cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, relative, resolve } from 'node:path'
import { parseArgs } from 'node:util'

const root = resolve(import.meta.dirname, '..')
const parts = join(import.meta.dirname, 'release')
const { values } = parseArgs({ options: { out: { type: 'string', default: 'release' }, url: { type: 'string', default: '' } } })
if (values.url !== '' && !/^https?:\/\/[\w.:[\]/~%-]+$/.test(values.url))
  throw new Error(`--url: \`${values.url}\` is not an http or https address.`)
const out = resolve(values.out)
const { version, dependencies, optionalDependencies } = readManifest(root)

/** Databases that the gateway loads when they are configured. */
const ON_DEMAND = ['pg', 'ioredis']

/** Sources that a package was compiled from. */
const LEFT_OUT = /\/better-sqlite3\/(?:deps|src|build\/(?!Release(?:$|\/[^/]+\.node$)))|\.(?:map|d\.[cm]?ts)$/i

mkdirSync(out, { recursive: true })
const packed = pack()
const bundled = bundle(packed)
writeFileSync(join(out, 'install.sh'), readFileSync(join(parts, 'install.sh'), 'utf8').replace('@URL@', values.url))
chmodSync(join(out, 'install.sh'), 0o755)
const latest = describe([
  { name: packed, os: null, arch: null },
  { name: bundled, os: platform(), arch: process.arch },
])
for (const { name, os, arch, size } of latest.files)
  console.log(`${name}  ${os === null ? 'npm' : `${os} ${arch}`}  ${(size / 1e6).toFixed(1)} MB`)
console.log(`GATEWAY_DIST_DIR=${out}`)

/** Writes the npm package. Returns its name. */
function pack() {
  const answer = execFileSync('npm', ['pack', '--json', '--ignore-scripts', '--pack-destination', out], {
    cwd: root,
    encoding: 'utf8',
  })
  return JSON.parse(answer)[0].filename
}

/** Writes the archive of this platform. Returns its name. */
function bundle(packed) {
  const stage = mkdtempSync(join(tmpdir(), 'hookgate-release-'))
  try {
    const place = join(stage, 'lib/hookgate')
    mkdirSync(place, { recursive: true })
    mkdirSync(join(stage, 'bin'))
    execFileSync('tar', ['-xzf', join(out, packed), '-C', place, '--strip-components=1'])
    cpSync(join(parts, 'launcher.sh'), join(stage, 'bin/hookgate'))
    chmodSync(join(stage, 'bin/hookgate'), 0o755)
    for (const folder of closure([...Object.keys(dependencies), ...Object.keys(optionalDependencies), ...ON_DEMAND]))
      cpSync(folder, join(place, relative(root, folder)), {
        recursive: true,
        dereference: true,
        filter: (path) => relative(folder, path).split('/')[0] !== 'node_modules' && !LEFT_OUT.test(path),
      })
    const name = `hookgate-${version}-${platform()}-${process.arch}.tar.gz`
    execFileSync('tar', ['-czf', join(out, name), '-C', stage, 'bin', 'lib'])
    return name
  } finally {
    rmSync(stage, { recursive: true, force: true })
  }
}

/** Returns the folders of these packages and of those that they need. One that is not installed for this platform is left out. */
function closure(names) {
  const found = new Set()
  const visit = (name, from) => {
    const folder = folderOf(name, from)
    if (folder === null || found.has(folder)) return
    found.add(folder)
    const { dependencies = {}, optionalDependencies = {} } = readManifest(folder)
    for (const needed of Object.keys({ ...dependencies, ...optionalDependencies })) visit(needed, folder)
  }
  for (const name of names) visit(name, root)
  return found
}

function folderOf(name, from) {
  for (let at = from; ; at = dirname(at)) {
    const folder = join(at, 'node_modules', name)
    if (existsSync(join(folder, 'package.json'))) return folder
    if (at === root || at === dirname(at)) return null
  }
}

/** Writes latest.json, and index.json for /dl/. It keeps other platforms' archives of the same version. */
function describe(written) {
  const path = join(out, 'latest.json')
  const before = existsSync(path) ? JSON.parse(readFileSync(path, 'utf8')) : { version, files: [] }
  const kept = before.version === version ? before.files.filter(({ name }) => written.every((one) => one.name !== name)) : []
  const files = written.map((one) => {
    const bytes = readFileSync(join(out, one.name))
    return { ...one, sha256: createHash('sha256').update(bytes).digest('hex'), size: statSync(join(out, one.name)).size }
  })
  const latest = { version, files: [...files, ...kept] }
  for (const name of ['latest.json', 'index.json']) writeFileSync(join(out, name), `${JSON.stringify(latest, null, 2)}\n`)
  return latest
}

function platform() {
  const musl = process.platform === 'linux' && process.report.getReport().header.glibcVersionRuntime === undefined
  return musl ? 'linux-musl' : process.platform
}

function readManifest(folder) {
  return JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
}
