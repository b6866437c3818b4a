// Budgets, usage, reports, prices and webhooks from the command line: the API's data in tables and as JSON, beside a running server.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { tableFromIPC } from 'apache-arrow'
import { readParquet } from 'parquet-wasm/node'
import { beforeAll, describe, expect, it } from 'vitest'
import { openDatabase } from '../../../adapters/stores/open-database.ts'
import { insertRows } from '../../../plugins/ledger/usage-rows.ts'
import { row } from '../../plugins/usage/support.ts'
import { eventually } from '../node/support.ts'
import { besideServer } from './beside.ts'
import { hookgate } from './hookgate.ts'

/** USD; the price of a request of `called`. */
const PRICE = { input: 1000, output: 2000 }

const beside = besideServer()
const { cwd, env, cli, json, api } = beside
let key: { id: number; key: string }
beforeAll(async () => {
  await api('PUT', '/api/pricing/overrides', { data: [{ model: 'echo/echo-1', ...PRICE }] })
  key = await beside.key('team')
})
const called = (model?: string): Promise<number> => beside.called(key.key, model)

interface Budget {
  id: number
  [member: string]: unknown
}

describe('hookgate budget', () => {
  it('makes one that a running server keeps, raises it for a while, and ends it', async () => {
    const made = await hookgate(['budget', 'create', '--key', String(key.id), '--limit', '0'], { cwd, env })
    expect(made).toEqual({
      code: 0,
      stdout: expect.stringMatching(/^\d+\n$/),
      stderr: expect.stringMatching(/key team, monthly, \$0/),
    })
    const id = made.stdout.trim()
    await eventually(async () => (await called()) === 402)
    const raised = await cli('budget', 'increase', id, '--amount', '25.5', '--until', '2h', '--reason', 'the launch')
    expect(raised).toEqual({ code: 0, stdout: '', stderr: expect.stringMatching(/is \$25\.5000 until 20\d\d-/) })
    await eventually(async () => (await called()) === 200)
    const { stdout } = await cli('budget', 'list')
    expect(stdout).toMatch(/^ID +FOR +WINDOW +LIMIT +SPENT +RESERVED +LEFT +USED +ENDS +STATE +FROM$/m)
    expect(stdout).toMatch(new RegExp(`^${id} +key team +monthly +\\$25\\.5000 \\(\\$0\\) .* ok +api$`, 'm'))
    expect((await cli('budget', 'delete', id)).stderr).toMatch(/is deleted/)
    expect(await json('budget', 'list')).toEqual({ data: [], time_zone: 'UTC' })
  })

  it('is for everything, for a virtual model, or for a key; what was spent counts', async () => {
    await api('POST', '/api/virtual-models', { name: 'coder', strategy: 'failover', targets: ['echo/echo-1'] })
    // This process has its own view of the rows that the server wrote.
    const org = await json<Budget>('budget', 'create', '--limit', '100', '--window', 'lifetime')
    expect(org).toMatchObject({ scope: 'org', window: 'lifetime', hard_limit_usd: 100, window_end: null })
    expect(org.spend_usd).toBeGreaterThan(0)
    const model = await json<Budget>('budget', 'create', '--limit', '5', '--virtual-model', 'coder', '--window', 'daily')
    expect(model).toMatchObject({ scope: 'virtual_model', entity_label: 'coder', window: 'daily' })
    expect((await json<{ data: Budget[] }>('budget', 'list')).data.map(({ id }) => id)).toEqual([org.id, model.id])
    for (const { id } of [org, model]) await cli('budget', 'delete', String(id))
  })

  it.each([
    [['budget', 'create'], /--limit is missing/],
    [['budget', 'create', '--limit', 'much'], /--limit: much is not an amount in USD/],
    [['budget', 'create', '--limit', '1', '--key', '1', '--virtual-model', 'x'], /--key and --virtual-model/],
    [['budget', 'create', '--limit', '1', '--window', 'fortnightly'], /--window/],
    [['budget', 'increase', '1', '--until', '2h'], /--amount is missing/],
    [['budget', 'increase', '1', '--amount', '1'], /--until is missing/],
    [['budget', 'delete', 'mine'], /<id>: mine is not the number/],
  ])('%j is a wrong command line', async (args, message) => {
    expect(await cli(...args)).toEqual({ code: 2, stdout: '', stderr: expect.stringMatching(message) })
  })

  it('what is not there ends with 1', async () => {
    expect(await cli('budget', 'delete', '999')).toMatchObject({ code: 1, stderr: expect.stringMatching(/no budget 999/) })
    expect(await cli('budget', 'create', '--limit', '1', '--key', '999')).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/no client key 999/),
    })
  })
})

describe('hookgate usage', () => {
  it('prints sums, a line over time, and a table with bars for each', async () => {
    await called()
    await called('echo/echo-2')
    await eventually(async () => (await cli('usage', '--window', '7d')).stdout.includes('echo/echo-2'))
    const { code, stdout, stderr } = await cli('usage', '--window', '7d')
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    expect(stdout).toMatch(/^cost +[·▁▂▃▄▅▆▇█]{7,8}$/m)
    expect(stdout).toMatch(/^requests +[·▁▂▃▄▅▆▇█]{7,8}$/m)
    expect(stdout).toMatch(/^\d+ requests, \d+ errors, \d+ \+ \d+ tokens, \$\d+\.\d+$/m)
    expect(stdout).toMatch(/^MODEL +REQUESTS +ERRORS +PROMPT +COMPLETION +P50 +P95 +COST *$/m)
    expect(stdout).toMatch(/^echo\/echo-1 .*\$\d+\.\d{4} +█{16}$/m)
    expect(stdout).toMatch(/^echo\/echo-2 .* \$0\.0000\d+ +▏$/m)
    expect(stdout).toMatch(/^KEY[\s\S]*^team /m)
  })

  it('--json is the API’s own answer', async () => {
    const said = await json<{ totals: object; by_model: object }>('usage', '--window', '30d')
    const { totals, by_model } = await api<{ totals: object; by_model: object }>('GET', '/api/usage?window=30d')
    expect(said).toMatchObject({ totals, by_model })
  })

  it('says what of it is estimated and was interrupted', async () => {
    const db = await openDatabase('sqlite:gateway.db', env.GATEWAY_DATA_DIR as string)
    const left = { status: 502, costNano: 2_500_000_000, estimated: true, interrupted: true }
    await db.run(insertRows([row({ at: Date.UTC(2020, 1, 1, 12), ...left })]).sql)
    await db.close()
    const { stdout } = await cli('usage', '--since', '2020-02-01', '--until', '2020-02-02')
    expect(stdout).toMatch(
      /^1 requests, 1 errors, 10 \+ 5 tokens, \$2\.5000\nestimated: 15 tokens, \$2\.5000; interrupted: 1 requests$/m,
    )
  })

  it('a window without anything is no division by nothing', async () => {
    const { code, stdout } = await cli('usage', '--since', '2020-01-01', '--until', '2020-01-03')
    expect(code).toBe(0)
    expect(stdout).toMatch(/^cost +·{48}$/m)
    expect(stdout).toContain(' an hour each, in UTC')
    expect(stdout).toMatch(/^0 requests, 0 errors, 0 \+ 0 tokens, \$0$/m)
  })

  it.each([
    [['usage', '--window', '1y'], /--window/],
    [['usage', '--since', 'yesterday'], /--since: must be a day/],
    [['usage', '--until', '2026-01-01'], /--until needs/],
  ])('%j is a wrong command line', async (args, message) => {
    expect(await cli(...args)).toEqual({ code: 2, stdout: '', stderr: expect.stringMatching(message) })
  })
})

describe('hookgate savings', () => {
  it('prints sums by source, and --json is the API’s own answer', async () => {
    const { code, stdout, stderr } = await cli('savings', '--window', '7d')
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    expect(stdout).toMatch(/^SOURCE +RECEIPTS +TOKENS +SAVED$/m)
    expect(stdout).toMatch(/^all +\d+ +\d+ +\$\S+$/m)
    const { receipts, by_source } = await api<{ receipts: number; by_source: object }>('GET', '/api/savings/totals?window=30d')
    expect(await json('savings', '--window', '30d')).toMatchObject({ receipts, by_source })
  })

  it('verify says whether the receipts are whole', async () => {
    expect(await cli('savings', 'verify')).toEqual({ code: 0, stdout: '', stderr: expect.stringMatching(/receipts/) })
    expect(await json('savings', 'verify')).toMatchObject({ ok: true, first_bad_seq: null })
  })

  it.each([
    [['savings', '--window', '1y'], /--window/],
    [['savings', 'audit'], /no command savings audit\. .*verify/],
  ])('%j is a wrong command line', async (args, message) => {
    expect(await cli(...args)).toEqual({ code: 2, stdout: '', stderr: expect.stringMatching(message) })
  })
})

describe('hookgate free-pool', () => {
  it('prints limits and use, and says that no connection is shared; --json is the API’s own answer', async () => {
    const { code, stdout, stderr } = await cli('free-pool')
    expect(code).toBe(0)
    expect(stderr).toMatch(/No connection is shared/)
    expect(stdout).toMatch(/^model +gateway\/free$/m)
    expect(stdout).toMatch(/^last 7 days +0 +none$/m)
    expect(await json('free-pool')).toEqual(await api('GET', '/api/free-pool'))
  })
})

describe('hookgate report', () => {
  it('writes what the API answers, in each format', async () => {
    const path = (name: string) => join(cwd, name)
    const csv = await hookgate(['report', '--window', '7d', '--group-by', 'model,day'], { cwd, env })
    expect(csv).toMatchObject({
      code: 0,
      stderr: '',
      stdout: expect.stringMatching(/^model,day,requests,.*\r\n[\s\S]*^echo\/echo-1|^echo-1,/m),
    })
    for (const format of ['csv', 'json', 'parquet']) {
      const args = ['report', '--format', format, '--window', '30d', '--group-by', 'key', '--out', path(`report.${format}`)]
      expect(await cli(...args)).toEqual({ code: 0, stdout: '', stderr: expect.stringMatching(/report\.\w+ is written/) })
    }
    const { totals } = JSON.parse(readFileSync(path('report.json'), 'utf8')) as { totals: { requests: number; cost_usd: number } }
    const usage = await api<{ totals: { requests: number; cost_usd: number } }>('GET', '/api/usage?window=30d')
    expect(totals).toMatchObject({ requests: usage.totals.requests, cost_usd: usage.totals.cost_usd })
    const rows = tableFromIPC(readParquet(readFileSync(path('report.parquet'))).intoIPCStream())
    expect(rows.numRows).toBe(readFileSync(path('report.csv'), 'utf8').trimEnd().split('\r\n').length - 1)
  })

  it.each([
    [['report', '--format', 'xlsx'], /--format: xlsx is none of csv, json, parquet/],
    [['report', '--group-by', 'colour'], /--group-by: colour is none of/],
    [['report', '--out', ''], /--out needs a value/],
  ])('%j is a wrong command line', async (args, message) => {
    expect(await cli(...args)).toEqual({ code: 2, stdout: '', stderr: expect.stringMatching(message) })
  })

  it('a file that cannot be written ends with 1', async () => {
    expect(await cli('report', '--out', join(cwd, 'nowhere/report.csv'))).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/There is no such file or folder/),
    })
  })
})

describe('hookgate price', () => {
  it('says what a model costs, and who says so', async () => {
    const { code, stdout, stderr } = await cli('price', 'echo/echo-1')
    expect({ code, stderr }).toEqual({ code: 0, stderr: expect.stringMatching(/From an override \(echo\/echo-1\)/) })
    expect(stdout).toMatch(/^WHAT +USD +PER$/m)
    expect(stdout).toMatch(/^input +\$1000\.00 +1M tokens$/m)
    expect(await json('price', 'openai/gpt-4.1')).toMatchObject({ source: 'builtin', prices: { input: expect.any(Number) } })
  })

  it('ends with 1 for a model nobody has a price of', async () => {
    expect(await cli('price', 'acme/none')).toMatchObject({
      code: 1,
      stdout: '',
      stderr: expect.stringMatching(/No price is known for acme\/none/),
    })
  })
})

describe('hookgate webhook', () => {
  it('makes an endpoint with its secret alone on stdout, lists it, and says what became of a test', async () => {
    const { code, stdout, stderr } = await cli(
      'webhook',
      'create',
      'https://hooks.invalid/in',
      '--events',
      'budget.crossed,request.failed',
    )
    expect(code).toBe(0)
    expect(stdout).toMatch(/^whsec_[A-Za-z0-9+/]+=*\n$/)
    const id = /Endpoint (\S+) is made/.exec(stderr)?.[1] as string
    const listed = await cli('webhook', 'list')
    expect(listed.stdout).toMatch(
      new RegExp(`^${id} +ok +….{4} +standard +budget\\.crossed,request\\.failed +- +https://hooks\\.invalid/in$`, 'm'),
    )
    expect(listed.stdout).not.toContain(stdout.trim())
    expect(await cli('webhook', 'test', id)).toMatchObject({ code: 1, stderr: expect.stringMatching(/It was not taken/) })
  })

  it.each([
    [['webhook', 'create'], /<address> is missing/],
    [['webhook', 'create', 'https://hooks.invalid/', '--events', 'moon.rose'], /--events/],
    [['webhook', 'test', 'a b'], /<id>/],
  ])('%j is a wrong command line', async (args, message) => {
    expect(await cli(...args)).toMatchObject({ code: 2, stderr: expect.stringMatching(message) })
  })

  it('an address inside is refused', async () => {
    expect(await cli('webhook', 'create', 'http://127.0.0.1:9/')).toMatchObject({ code: 2, stdout: '' })
  })
})
