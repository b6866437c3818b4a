// `hookgate logs`: the log of a running server with the API's filters, and new rows.
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { beforeAll, expect, it } from 'vitest'
import { logLine } from '../../../adapters/cli/logs/line.ts'
import type { LogRow } from '../../../adapters/cli/logs/row.ts'
import { eventually, until } from '../node/support.ts'
import { besideServer } from './beside.ts'
import { hookgateRoot, start } from './hookgate.ts'
import { command } from './in-process.ts'

const beside = besideServer()
const { env, cli, json } = beside
let key: { id: number; key: string }
beforeAll(async () => {
  key = await beside.key('team')
})
const called = (model?: string): Promise<number> => beside.called(key.key, model)

interface Row {
  request_id: string
  status: number
  model: string
}

it('prints the newest last, and as the API says with --json', async () => {
  await called()
  await called('nobody/knows')
  // Rows are written with a delay.
  await eventually(async () => (await json<{ data: Row[] }>('logs', '--limit', '1')).data[0]?.status === 400)
  const { code, stdout } = await cli('logs', '--limit', '2')
  expect(code).toBe(0)
  const lines = stdout.trimEnd().split('\n')
  expect(lines[0]).toMatch(/^TIME +STATUS +TOOK +FIRST +TOKENS +COST +KEY +MODEL +REQUEST/)
  expect(lines[1]).toMatch(/ 200 .* team +echo\/echo-1 +req_\S+$/)
  expect(lines[2]).toMatch(/ 400 .* team +nobody\/knows +req_\S+ +model_not_found$/)
  expect(await json('logs', '--limit', '2')).toMatchObject(
    (await (await fetch(`${beside.url}/api/logs?limit=2`)).json()) as object,
  )
})

it.each([
  [['--status', 'error'], (rows: Row[]) => rows.every(({ status }) => status >= 400)],
  [
    ['--model', 'echo-1', '--status', '2xx'],
    (rows: Row[]) => rows.every(({ model, status }) => model === 'echo-1' && status === 200),
  ],
  [['--since', '1h', '--search', 'req_'], () => true],
  [['status:4xx', 'key:team'], (rows: Row[]) => rows.every(({ status }) => status >= 400 && status < 500)],
  [['model:echo-1', '--key', 'team'], (rows: Row[]) => rows.every(({ model }) => model === 'echo-1')],
])('%j narrows', async (flags, holds) => {
  const { data: rows } = await json<{ data: Row[] }>('logs', ...flags)
  expect(rows.length).toBeGreaterThan(0)
  expect(holds(rows)).toBe(true)
})

it('what is in the future has not happened', async () => {
  expect(await json('logs', '--since', '2090-01-01')).toEqual({ data: [], next_cursor: null })
  const { code, stdout, stderr } = await cli('logs', '--since', '2090-01-01')
  expect([code, `${stdout}${stderr}`]).toEqual([0, expect.stringContaining('No logged request fits.')])
})

it('what a terminal would act on is shown, not done: names come from callers and vendors', async () => {
  const { data: rows } = await json<{ data: LogRow[] }>('logs', '--limit', '1')
  const row = { ...(rows[0] as LogRow), model: 'm\u001b[31mred\u0007', api_key_label: 'a\nb', error_code: '\u202egnp' }
  expect(logLine(row)).not.toMatch(/[\p{Cc}\u202e]/u)
  expect(logLine(row)).toContain('m\ufffd[31mred')
})

it.each([
  [['logs', '--status', 'bad'], /--status: must be a status/],
  [['logs', '--min-cost', 'much'], /--min-cost/],
  [['logs', '--limit', '5000'], /--limit: must be at most 200/],
  [['logs', '--since', 'once'], /--since: once is not a time/],
  [['logs', 'tail', 'colour:red'], /There is no filter colour\. There are status, model/],
  [['logs', 'constructor:x'], /There is no filter constructor/],
  [['logs', 'key:stranger'], /No key has the label stranger/],
  [['logs', '--key', 'stranger'], /--key: no key has the label stranger/],
  [['logs', 'status:5xx', '--status', '4xx'], /status is given as a word and as a flag/],
  [['logs', 'sk-1234567890'], /looks like a secret/],
])('%j is a wrong command line', async (args, message) => {
  expect(await cli(...args)).toEqual({ code: 2, stdout: '', stderr: expect.stringMatching(message) })
})

it('--follow shows what is there and then what ends, once, filtered, until it is interrupted', async () => {
  await called()
  // Rows are written with a delay: a late one would count as new.
  await eventually(async () => (await json<{ data: Row[] }>('logs', '--limit', '1')).data[0]?.status === 200)
  const args = ['dist/adapters/cli/main.js', 'logs', '--follow', '--json', '--limit', '1', '--status', '2xx']
  const child = start(args, { cwd: hookgateRoot, env })
  let out = ''
  child.stdout?.on('data', (chunk) => {
    out += chunk
  })
  const rows = () =>
    out
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line) as Row)
  await until(() => rows().length === 1)
  await called()
  await called('nobody/knows')
  await called()
  await until(() => rows().length === 3)
  const ended = new Promise((resolve) => child.on('close', resolve))
  child.kill('SIGINT')
  expect(await ended).toBe(0)
  expect(rows().map(({ status }) => status)).toEqual([200, 200, 200])
  expect(new Set(rows().map(({ request_id }) => request_id)).size).toBe(3)
})

it('tells of each call when a request took several', async () => {
  const answer = { id: 'c', object: 'chat.completion', model: 'm', created: 1, usage: { prompt_tokens: 1, completion_tokens: 1 } }
  const choices = [{ index: 0, finish_reason: 'stop', message: { role: 'assistant', content: 'Hi' } }]
  const upstream = createServer((request, response) => {
    request.resume()
    response.writeHead(request.url?.startsWith('/down') ? 503 : 200, { 'content-type': 'application/json' })
    response.end(JSON.stringify(request.url?.startsWith('/down') ? { error: { message: 'down' } } : { ...answer, choices }))
  }).listen(0, '127.0.0.1')
  await once(upstream, 'listening')
  const address = `http://127.0.0.1:${(upstream.address() as AddressInfo).port}`
  for (const [label, path] of [
    ['second', 'up'],
    ['first', 'down'],
  ] as const) {
    const flags = [
      '--label',
      label,
      '--base-url',
      `${address}/${path}`,
      '--wire-format',
      'chat',
      '--api-key',
      'k-1234',
      '--priority',
      label === 'first' ? '1' : '2',
    ]
    expect((await cli('provider', 'add', 'acme', ...flags)).code).toBe(0)
  }
  await eventually(async () => (await called('acme/m')) === 200)
  // The second is alone until the server has seen the first.
  await eventually(async () => {
    await called('acme/m')
    return /^ {2}└ acme\/first 503 next account · acme\/second returned$/m.test((await cli('logs', 'provider:acme')).stdout)
  })
  upstream.closeAllConnections()
  upstream.close()
})

it('--url reads a running server, and says why it cannot', async () => {
  const direct = await json<{ data: Row[] }>('logs', '--limit', '3')
  const { code, stdout } = await command(['logs', '--limit', '3', '--json', '--url', beside.url], { cwd: hookgateRoot })
  expect(code).toBe(0)
  expect(JSON.parse(stdout)).toEqual(direct)
  const none = await command(['logs', '--url', 'http://127.0.0.1:1'], {})
  expect(none).toEqual({
    code: 1,
    stdout: '',
    stderr: expect.stringMatching(/does not answer\.\n {2}why {2}.*\n {2}fix {2}hookgate serve\n$/),
  })
  const mixed = await command(['logs', '--url', beside.url, '--data-dir', '/x'], {})
  expect([mixed.code, mixed.stderr]).toEqual([2, expect.stringMatching(/do not go with it/)])
})
