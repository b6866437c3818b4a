// Failures have three lines: what, why, and the command that fixes it. These are the common ones.
import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { besideServer } from './beside.ts'
import { folder, hookgate } from './hookgate.ts'
import { command } from './in-process.ts'

const cwd = folder({
  'broken.config.mjs': `export default { connections: { a: { provider: 'unheard-of' } } }`,
  'text.json': 'not JSON',
})
const env = { GATEWAY_DATA_DIR: folder({}) }
const PORT_CLOSED = 'http://127.0.0.1:9'

interface Lines {
  readonly code: number | null
  readonly what: string
  readonly why: string
  readonly fix: string
}

/** @throws when stderr ends with other than three lines. */
function linesOf({ code, stdout, stderr }: { code: number | null; stdout: string; stderr: string }): Lines {
  expect(stdout).toBe('')
  const [, what, why, fix] = /^\s*(?:ERROR|\[error\])\s+([\s\S]+?)\n+ {2}why {2}(.+)\n {2}fix {2}(.+)\n$/.exec(stderr) ?? []
  if (what === undefined || why === undefined || fix === undefined) throw new Error(`These are not three lines:\n${stderr}`)
  return { code, what, why, fix }
}

let busy: Server
beforeAll(async () => {
  busy = createServer().listen(0, '127.0.0.1')
  await once(busy, 'listening')
})
afterAll(() => void busy.close())

describe('as a process', () => {
  it('a port that is in use', async () => {
    const { port } = busy.address() as AddressInfo
    const failed = linesOf(await hookgate(['serve', '--port', String(port)], { cwd, env }))
    expect(failed).toEqual({
      code: 1,
      what: `Cannot listen on 127.0.0.1:${port}.`,
      why: 'The port is in use: another process listens on it.',
      fix: 'hookgate serve --port 0',
    })
  })

  it('a variable with a wrong value', async () => {
    const failed = linesOf(await hookgate(['serve'], { cwd, env: { ...env, GATEWAY_PORT: 'abc' } }))
    expect(failed).toMatchObject({ code: 1, what: expect.stringMatching(/^GATEWAY_PORT: abc is not a whole number/) })
    expect(failed.why).toMatch(/^The environment, .env or a flag sets it/)
  })

  it('a database that does not answer', async () => {
    const unreachable = { ...env, GATEWAY_DATABASE_URL: 'postgres://127.0.0.1:9/none' }
    for (const args of [
      ['serve', '--port', '0'],
      ['key', 'list'],
    ]) {
      const failed = linesOf(await hookgate(args, { cwd, env: unreachable }))
      expect(failed).toMatchObject({ code: 1, what: expect.stringContaining('database'), fix: 'hookgate doctor' })
      expect(failed.why).toMatch(/ECONNREFUSED/)
    }
  })
})

it.each<[string[], RegExp, RegExp, RegExp]>([
  [['key', 'list', '--url', PORT_CLOSED], /does not answer\.$/, /^(No process listens there\.|bad port)$/, /^hookgate serve$/],
  [['key', 'list', '--config', 'none.ts'], /none\.ts does not exist\.$/, /^GATEWAY_CONFIG or --config names it\.$/, /--config </],
  [
    ['plan', '--config', 'broken.config.mjs'],
    /unheard-of is not in the provider registry\.$/,
    /^Give baseUrl/,
    /^hookgate doctor$/,
  ],
  [['import', 'none.json'], /^none\.json cannot be read\.$/, /^There is no such file/, /^hookgate import --help$/],
  [['import', '.'], /^\. cannot be read\.$/, /^It is a folder\.$/, /^hookgate import --help$/],
  [['import', 'text.json'], /^text\.json is no JSON\.$/, /hookgate export wrote/, /^hookgate export$/],
  [
    ['export', '--out', 'none/x.json'],
    /x\.json cannot be opened\.$/,
    /^There is no such file or folder/,
    /^hookgate export --help$/,
  ],
  [
    ['report', '--out', 'none/x.csv'],
    /x\.csv cannot be opened\.$/,
    /^There is no such file or folder/,
    /^hookgate report --help$/,
  ],
  [['routes', 'preview', 'none.json'], /^The draft none\.json cannot be read\.$/, /^There is no such file/, /preview --help$/],
  [['simulate', 'none.jsonl'], /cannot be read\.$/, /^There is no such file/, /^hookgate simulate --help$/],
  [['price', 'acme/none'], /^No price is known/, /\S/, /^hookgate pric/],
  [['provider', 'test', '999'], /^There is no connection 999\.$/, /404/, /^hookgate provider list$/],
  [['budget', 'delete', '999'], /^There is no budget 999\.$/, /404/, /^hookgate budget list$/],
  [['user', 'list'], /^This gateway has no organizations\.$/, /single-user mode/, /GATEWAY_MULTI_TENANT/],
])('%j', async (args, what, why, fix) => {
  const failed = linesOf(await command(args, { cwd, env }))
  expect(failed).toEqual({
    code: 1,
    what: expect.stringMatching(what),
    why: expect.stringMatching(why),
    fix: expect.stringMatching(fix),
  })
})

it.each([
  ['frob'],
  ['key', 'list', '--bogus'],
  ['logs', '--limit', 'many'],
  ['key', 'revoke', 'laptop'],
  ['usage', '--since', '03:14'],
])('a wrong command line: %s %s', async (...args) => {
  const failed = linesOf(await command(args, { cwd, env }))
  expect(failed).toMatchObject({ code: 2, fix: expect.stringMatching(/^hookgate( \w+)*( list)? --help$/) })
})

describe('beside a server', () => {
  const beside = besideServer()

  it('a token that is not one of the server', async () => {
    const failed = linesOf(await command(['key', 'list', '--url', beside.url, '--token', 'gmt_wrong'], { cwd, env }))
    expect(failed).toMatchObject({
      code: 1,
      why: expect.stringContaining('401'),
      fix: expect.stringMatching(/^hookgate token create/),
    })
  })

  it('a database in memory', async () => {
    const memory = { ...env, GATEWAY_DATABASE_URL: 'sqlite::memory:', GATEWAY_DATA_DIR: join(cwd, 'none') }
    const failed = linesOf(await command(['key', 'create'], { cwd, env: memory }))
    expect(failed).toMatchObject({ code: 1, what: 'GATEWAY_DATABASE_URL names a database in memory.' })
  })
})
