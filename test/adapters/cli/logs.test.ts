// `hookgate logs`: the log of a running server with the API's filters, and new rows.
import { beforeAll, expect, it } from 'vitest'
import { logLine } from '../../../adapters/cli/logs/line.ts'
import type { LogRow } from '../../../adapters/cli/logs/row.ts'
import { eventually, until } from '../node/support.ts'
import { besideServer } from './beside.ts'
import { hookgateRoot, start } from './hookgate.ts'

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
