// `hookgate init`: scripted, repeated, refused, and on a terminal.
import { once } from 'node:events'
import { existsSync, mkdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { built, type Finished, folder, hookgate, serving } from './hookgate.ts'
import { onTerminal } from './pseudo-terminal.ts'

const KEY = 'sk-vendor-4711'
let vendor: Server
let baseUrl: string
beforeAll(async () => {
  vendor = createServer((request, response) => {
    request.resume()
    const allowed = request.headers.authorization === `Bearer ${KEY}`
    response.writeHead(allowed ? 200 : 401, { 'content-type': 'application/json' })
    const usage = { prompt_tokens: 2, completion_tokens: 1, total_tokens: 3 }
    const choices = [{ index: 0, finish_reason: 'stop', message: { role: 'assistant', content: 'Hello there.' } }]
    const answer = { id: 'c', object: 'chat.completion', created: 1, model: 'm-one', choices, usage }
    const models = { object: 'list', data: ['m-one', 'm-two', 'm-three'].map((id) => ({ id, object: 'model' })) }
    const body = request.method === 'GET' ? models : answer
    response.end(JSON.stringify(allowed ? body : { error: { message: 'Incorrect API key' } }))
  }).listen(0, '127.0.0.1')
  await once(vendor, 'listening')
  baseUrl = `http://127.0.0.1:${(vendor.address() as AddressInfo).port}/v1`
  await built()
}, 60_000)
afterAll(() => {
  vendor.closeAllConnections()
  vendor.close()
})

interface Ran extends Finished {
  readonly cwd: string
}

async function init(args: string[], env: Record<string, string> = {}, cwd = folder({})): Promise<Ran> {
  return { cwd, ...(await hookgate(['init', ...args], { cwd, env: { GATEWAY_DATA_DIR: join(cwd, 'data'), ...env }, input: '' })) }
}

const acme = (): string[] => ['--provider', 'acme', '--base-url', baseUrl, '--wire-format', 'chat']

it('a stranger in an empty folder has a key, an answer with its cost, and a server that takes the key', async () => {
  const { cwd, code, stdout, stderr } = await init(['--yes', '--provider', 'echo'])
  expect([code, stdout]).toEqual([0, expect.stringMatching(/^gw_\w+\n$/)])
  expect(stderr).toMatch(/2 test +echo-1 answered in \d+ ms · 1 model\n/)
  expect(stderr).toMatch(/4 request +echo\/echo-1 200 .*Say hello.* · \d+\+\d+ tokens · \$0\.0000/)
  const file = readFileSync(join(cwd, 'gateway.config.ts'), 'utf8')
  const again = await init(['--yes', '--provider', 'echo'], {}, cwd)
  expect([again.code, again.stdout]).toEqual([0, ''])
  expect(again.stderr).toMatch(/key 1 \(me\) is there already[\s\S]*echo\/echo-1 200[\s\S]*declares connections\.main already/)
  expect(readFileSync(join(cwd, 'gateway.config.ts'), 'utf8')).toBe(file)
  const server = await serving([], { cwd, env: { GATEWAY_DATA_DIR: join(cwd, 'data'), GATEWAY_REQUIRE_API_KEY: 'true' } })
  const answer = await fetch(`${server.url}/v1/models`, { headers: { authorization: `Bearer ${stdout.trim()}` } })
  expect(answer.status).toBe(200)
  server.child.kill('SIGKILL')
}, 60_000)

it('--key-env: the file names the variable, and the key is nowhere', async () => {
  const { cwd, code, stdout, stderr } = await init(['--yes', ...acme(), '--key-env', 'ACME_TOKEN', '--json'], { ACME_TOKEN: KEY })
  expect(code).toBe(0)
  expect(JSON.parse(stdout)).toMatchObject({
    provider: 'acme',
    label: 'main',
    test: { ok: true, model: 'm-one', models: 3 },
    kept: 'file',
    key: { label: 'me', key: expect.stringMatching(/^gw_/) },
    request: { status: 200, model: 'acme/m-one', answer: 'Hello there.' },
  })
  const file = readFileSync(join(cwd, 'gateway.config.ts'), 'utf8')
  expect(file).toContain(
    `main: { provider: 'acme', apiKey: secret.env('ACME_TOKEN'), baseUrl: '${baseUrl}', wireFormat: 'chat' }`,
  )
  expect(file + stdout + stderr).not.toContain(KEY)
  expect(existsSync(join(cwd, '.env'))).toBe(false)
})

it('--json: a failure after the key was made still prints its secret', async () => {
  const cwd = folder({})
  symlinkSync(join(cwd, 'missing', 'file.ts'), join(cwd, 'gateway.config.ts'))
  const { code, stdout } = await init(['--yes', '--provider', 'echo', '--json'], {}, cwd)
  expect(code).not.toBe(0)
  expect(JSON.parse(stdout)).toMatchObject({ kept: null, key: { key: expect.stringMatching(/^gw_/) }, request: { status: 200 } })
}, 60_000)

it('--keep database: no file, and the row is made once', async () => {
  const args = ['--yes', ...acme(), '--key-env', 'ACME_TOKEN', '--keep', 'database', '--skip', 'key']
  const { cwd, code, stderr } = await init(args, { ACME_TOKEN: KEY })
  expect([code, existsSync(join(cwd, 'gateway.config.ts'))]).toEqual([0, false])
  expect(stderr).toMatch(
    /3 key +skipped\n.*4 request +acme\/m-one 200 .*\n.*5 keep +connection \d+ in the database, its key sealed\n/,
  )
  const again = await init(args, { ACME_TOKEN: KEY }, cwd)
  expect([again.code, again.stderr]).toEqual([0, expect.stringMatching(/\(acme\/main\) is there already/)])
})

it('a refused key: exit 1, three lines, and nothing is stored', async () => {
  const { cwd, code, stdout, stderr } = await init(['--yes', ...acme(), '--key-env', 'ACME_TOKEN'], { ACME_TOKEN: 'sk-wrong' })
  expect([code, stdout]).toEqual([1, ''])
  expect(stderr).toMatch(/test of acme failed, so nothing was stored\.\n {2}why {2}.*\n {2}fix {2}hookgate init --yes .*\n$/)
  expect(existsSync(join(cwd, 'gateway.config.ts')) || existsSync(join(cwd, 'data', 'gateway.db'))).toBe(false)
})

it.each([
  [[], /no terminal to ask on\. For scripts: hookgate init --yes --provider echo/],
  [['--yes', '--provider', 'openai'], /openai needs a key\. Set OPENAI_API_KEY, or say --key-env/i],
  [['--yes', '--provider', 'openai', '--key-env', 'NO_SUCH_KEY'], /the variable NO_SUCH_KEY is not set/],
  [['--yes', '--keep', 'cloud'], /cloud is neither file nor database/],
  [['--yes', '--skip', 'lunch'], /There are provider, test, key, request, keep/],
])('%j is a wrong command line', async (args, message) => {
  const { code, stdout, stderr, cwd } = await init(args)
  expect([code, stdout, existsSync(join(cwd, 'data'))]).toEqual([2, '', false])
  expect(stderr).toMatch(message)
})

it('on a terminal it asks, shows no key, and keeps a pasted key in .env beside the file, out of git', async (context) => {
  const cwd = folder({})
  mkdirSync(join(cwd, '.git'))
  writeFileSync(join(cwd, '.gitignore'), 'node_modules')
  const done = await onTerminal(
    `init --provider openai --base-url ${baseUrl} --model m-two`,
    [
      [/The key of/, '\r'],
      [/Key: $/, `${KEY}\r`],
      [/Label of your client key/, '\r'],
      [/Where to keep/, '\r'],
    ],
    { cwd },
  )
  if (done === null) return context.skip('no `script` on this machine')
  const session = done.shown
  expect(session).toMatch(/2 test +m-two answered in \d+ ms · 3 models/)
  expect(session).toMatch(/4 request +openai\/m-two 200 .*Hello there\./)
  expect(session).not.toContain(KEY)
  expect(readFileSync(join(cwd, '.env'), 'utf8')).toBe(`OPENAI_API_KEY=${KEY}\n`)
  expect(statSync(join(cwd, '.env')).mode & 0o777).toBe(0o600)
  expect(readFileSync(join(cwd, '.gitignore'), 'utf8')).toBe('node_modules\n.env\n')
  expect(readFileSync(join(cwd, 'gateway.config.ts'), 'utf8')).toContain(`apiKey: secret.env('OPENAI_API_KEY')`)
}, 60_000)
