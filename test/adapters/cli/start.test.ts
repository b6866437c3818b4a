// The start of the command line reads few files: on a cold disk each one costs time.
import { execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { beforeAll, expect, it } from 'vitest'
import { built, folder, hookgateRoot } from './hookgate.ts'

beforeAll(built)

/** Returns the files that a process reads as modules, by a loader that lists them. */
function modulesOf(...args: string[]): string[] {
  const cwd = folder({})
  const list = join(cwd, 'list.txt')
  writeFileSync(join(cwd, 'list.mjs'), LOADER)
  writeFileSync(
    join(cwd, 'register.mjs'),
    `import { register } from 'node:module'\nregister('./list.mjs', import.meta.url, { data: ${JSON.stringify(list)} })`,
  )
  execFileSync(process.execPath, ['--import', pathToFileURL(join(cwd, 'register.mjs')).href, ...args], {
    cwd,
    env: { PATH: process.env.PATH, NO_COLOR: '1' },
  })
  return readFileSync(list, 'utf8').trim().split('\n')
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
  ['--version', 10],
  ['--help', 60],
])('hookgate %s loads at most %i files of hookgate', (flag, limit) => {
  expect(own(modulesOf(join(hookgateRoot, 'dist/adapters/cli/main.js'), flag)).length).toBeLessThanOrEqual(limit)
})

it('import of hookgate loads five files of it, no transport and no dialect', () => {
  const code = `await import(${JSON.stringify(pathToFileURL(join(hookgateRoot, 'dist/adapters/node/index.js')).href)})`
  const modules = modulesOf('--input-type=module', '-e', code)
  expect(own(modules).length).toBeLessThanOrEqual(5)
  expect(modules.filter((url) => /node_modules\/(?:undici|jose|prom-client|better-sqlite3|@node-rs)\//.test(url))).toEqual([])
})

it('import of hookgate adds at most 80 MB to a bare process', () => {
  const memory = (code: string): number => {
    const print = 'process.stdout.write(String(process.memoryUsage().rss / 2 ** 20))'
    return Number(execFileSync(process.execPath, ['--input-type=module', '-e', `${code}\n${print}`], { encoding: 'utf8' }))
  }
  const hookgate = pathToFileURL(join(hookgateRoot, 'dist/adapters/node/index.js')).href
  expect(memory(`await import(${JSON.stringify(hookgate)})`) - memory('')).toBeLessThanOrEqual(80)
})
