// Finds a client's packages: in a separate folder outside the repository, or in the repository's node_modules.
import { spawn } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const OWN = fileURLToPath(new URL('../../', import.meta.url))

/** @returns { dir, own, version, bin } or { missing } with the reason */
export function placeOf(client, dir) {
  let missing = ''
  for (const root of [dir, OWN]) {
    const absent = client.packages.filter((name) => !existsSync(join(root, 'node_modules', name, 'package.json')))
    missing ||= `not installed: ${absent.join(', ')}`
    if (absent.length > 0) continue
    const [name] = client.packages
    const { version } = JSON.parse(readFileSync(join(root, 'node_modules', name, 'package.json'), 'utf8'))
    const bin = client.bin && join(root, 'node_modules', '.bin', client.bin)
    if (bin && !existsSync(bin)) missing = `${name} has no command ${client.bin}`
    else return { dir: root, own: root === OWN, version: versionOf(client, root) ?? version, bin }
  }
  return { missing }
}

/** Returns the version of the package that connects to the gateway, when it is not the first one. */
function versionOf({ packages }, root) {
  const read = (name) => JSON.parse(readFileSync(join(root, 'node_modules', name, 'package.json'), 'utf8')).version
  return packages[1]?.startsWith('@ai-sdk/') ? `${read(packages[0])}, ${packages[1]} ${read(packages[1])}` : null
}

/** Installs the newest versions. A package that fails to install is reported and does not stop the others. */
export async function install(clients, dir, say) {
  mkdirSync(dir, { recursive: true })
  if (!existsSync(join(dir, 'package.json'))) writeFileSync(join(dir, 'package.json'), '{"private":true}\n')
  const all = [...new Set(clients.flatMap(({ packages }) => packages))]
  say(`Installing ${all.join(', ')} into ${dir}`)
  if (await npm(all, dir, say)) return
  say('That failed; installing client by client.')
  const lists = new Set(clients.map(({ packages }) => packages.join(' ')))
  for (const list of lists) if (!(await npm(list.split(' '), dir, say))) say(`Not installed: ${list}`)
}

function npm(packages, dir, say) {
  // npm removes packages that no package.json names, so this folder's package.json keeps them for the next install.
  const args = ['install', '--no-audit', '--no-fund', '--loglevel', 'error', ...packages]
  const child = spawn('npm', args, { cwd: dir, stdio: ['ignore', 'ignore', 'pipe'] })
  child.stderr.on('data', (chunk) => say(String(chunk).trim()))
  return new Promise((resolve) => {
    child.on('error', () => resolve(false))
    child.on('close', (code) => resolve(code === 0))
  })
}
