// The start of the command line reads few files: on a cold disk each one costs time.
import { execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { beforeAll, expect, it } from 'vitest'
import { built, folder, hookgate, hookgateRoot, listening, start } from './hookgate.ts'

beforeAll(built)

/** Returns the files that a process reads as modules, by a loader that lists them. */
function modulesOf(...args: string[]): string[] {
  return modulesIn(folder({}), {}, ...args)
}

function modulesIn(cwd: string, env: Record<string, string>, ...args: string[]): string[] {
  const { list, loader } = listing(cwd)
  execFileSync(process.execPath, [...loader, ...args], { cwd, env: { PATH: process.env.PATH, NO_COLOR: '1', ...env } })
  return readFileSync(list, 'utf8').trim().split('\n')
}

/** Returns the file of the list, and the options of Node that load the loader. */
function listing(cwd: string): { list: string; loader: string[] } {
  const list = join(cwd, 'list.txt')
  writeFileSync(join(cwd, 'list.mjs'), LOADER)
  writeFileSync(
    join(cwd, 'register.mjs'),
    `import { register } from 'node:module'\nregister('./list.mjs', import.meta.url, { data: ${JSON.stringify(list)} })`,
  )
  return { list, loader: ['--import', pathToFileURL(join(cwd, 'register.mjs')).href] }
}

const LOADER = `import { appendFileSync } from 'node:fs'
let list
export const initialize = (path) => void (list = path)
export async function load(url, context, next) {
  if (url.startsWith('file:')) appendFileSync(list, url + '\\n')
  return next(url, context)
}`

const own = (modules: string[]) => modules.filter((url) => url.includes('/dist/') && !url.includes('node_modules'))

it.each([
  ['--version', 5],
  ['--help', 20],
])('hookgate %s loads at most %i modules', (words, limit) => {
  expect(modulesOf(join(hookgateRoot, 'dist/adapters/cli/main.js'), ...words.split(' ')).length).toBeLessThanOrEqual(limit)
})

it.each([
  ['no configuration', {}],
  ['a plain configuration', { 'gateway.config.ts': "export default { connections: { echo: { provider: 'echo' } } }" }],
])('key list loads at most 24 modules with %s: no gateway, no web objects, no jiti', async (_, files) => {
  const env = { GATEWAY_DATA_DIR: folder({}) }
  await hookgate(['key', 'create'], { env })
  const modules = modulesIn(folder(files), env, join(hookgateRoot, 'dist/adapters/cli/main.js'), 'key', 'list')
  expect(modules.length).toBeLessThanOrEqual(24)
  expect(modules.filter((url) => /\/chunks\/(?:core|edge|node)-|node_modules\/(?:jiti|h3|undici)\//.test(url))).toEqual([])
})

it('budget list boots a gateway, and loads at most 95 modules: no jiti for a plain configuration, no process metrics', async () => {
  const env = { GATEWAY_DATA_DIR: folder({}) }
  await hookgate(['key', 'create'], { env })
  const cwd = folder({ 'gateway.config.ts': "export default { connections: { echo: { provider: 'echo' } } }" })
  const modules = modulesIn(cwd, env, join(hookgateRoot, 'dist/adapters/cli/main.js'), 'budget', 'list')
  expect(modules.length).toBeLessThanOrEqual(95)
  expect(modules.filter((url) => /node_modules\/(?:jiti|prom-client\/index|@opentelemetry)\b/.test(url))).toEqual([])
})

it('serve loads at most 38 modules until it listens: no jiti, no parser of forms, no undici of Node', async () => {
  const cwd = folder({
    'gateway.config.ts': "export default { connections: { echo: { provider: 'echo' } } }",
    'ending.mjs': "process.on('exit', () => console.log(process.moduleLoadList.join()))",
  })
  const { list, loader } = listing(cwd)
  const ending = pathToFileURL(join(cwd, 'ending.mjs')).href
  const args = [...loader, '--import', ending, join(hookgateRoot, 'dist/adapters/cli/main.js'), 'serve', '--port', '0']
  const child = start(args, { cwd, env: { GATEWAY_DATA_DIR: folder({}) } })
  const server = await listening(child, /^hookgate listening on (http:\/\/\S+:(\d+))\n/)
  const modules = readFileSync(list, 'utf8').trim().split('\n')
  expect(modules.length).toBeLessThanOrEqual(38)
  expect(modules.filter((url) => /node_modules\/(?:jiti|@fastify|consola)\b/.test(url))).toEqual([])
  child.kill('SIGTERM')
  const { stdout } = await server.exited
  expect(stdout).toContain('NativeModule http')
  expect(stdout).not.toContain('deps/undici')
})

it('import of hookgate loads eight files of it, no transport and no dialect', () => {
  const code = `await import(${JSON.stringify(pathToFileURL(join(hookgateRoot, 'dist/adapters/node/index.js')).href)})`
  const modules = modulesOf('--input-type=module', '-e', code)
  expect(own(modules).length).toBeLessThanOrEqual(8)
  expect(modules.length).toBeLessThanOrEqual(12)
  const late = /node_modules\/(?:undici|h3|srvx|crossws|ofetch|zod|jose|prom-client|better-sqlite3|@node-rs)\//
  expect(modules.filter((url) => late.test(url))).toEqual([])
})

// The memory of a process depends on the machine, what is alive in its heap does not.
it('import of hookgate keeps at most 11 MB alive, and leaves the web objects of Node unloaded', () => {
  const alive = (code: string): number => {
    const print = 'gc(); process.stdout.write(String(process.memoryUsage().heapUsed / 2 ** 20))'
    const args = ['--expose-gc', '--input-type=module', '-e', `${code}\n${print}`]
    return Number(execFileSync(process.execPath, args, { encoding: 'utf8' }))
  }
  const hookgate = pathToFileURL(join(hookgateRoot, 'dist/adapters/node/index.js')).href
  const watch =
    "for (const name of ['Request', 'Response', 'Headers']) Object.defineProperty(globalThis, name, { get() { throw new Error(name) } })"
  expect(alive(`${watch}\nawait import(${JSON.stringify(hookgate)})`) - alive('')).toBeLessThanOrEqual(11)
})
