// `hookgate filter test`: a filter's decisions on recorded requests, in the gateway's sandbox.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { guest, LOOP, says, stars, when } from '../../plugins/wasm-filters/guests.ts'
import { canonicalRequest, user } from '../../support/dialects.ts'
import { command } from './in-process.ts'

const cwd = mkdtempSync(join(tmpdir(), 'filter-test-'))
afterAll(() => rmSync(cwd, { recursive: true, maxRetries: 3 }))
const EXAMPLE = join(import.meta.dirname, '../../../examples/wasm-filter/filter.wasm')
/** Also sufficient on a busy machine. */
const ample = ['--limit-ms', '20000', '--runs', '2']

function file(name: string, content: string | Uint8Array): string {
  const path = join(cwd, name)
  writeFileSync(path, content)
  return path
}

interface Row {
  hook: string
  recording: string
  action: string
  changes: string
  calls: number
  p50_ms: number | null
  failures: { reason: string; message: string }[]
}
async function tried(args: string[]): Promise<{ code: number | null; rows: Row[] }> {
  const { code, stdout, stderr } = await command(['filter', 'test', ...args, '--json', ...ample], { cwd })
  if (stdout === '') throw new Error(stderr)
  return { code, ...(JSON.parse(stdout) as { rows: Row[] }) }
}

describe('hookgate filter test', () => {
  it('runs the example on requests in all dialects, and prints a table', async () => {
    const { code, stdout, stderr } = await command(['filter', 'test', EXAMPLE, '--config', 'word=heron', ...ample], { cwd })
    expect(code, stderr).toBe(0)
    for (const dialect of ['chat', 'messages', 'responses', 'generate_content'])
      expect(stdout).toMatch(new RegExp(`on_request +${dialect}: text +deny +2 +[\\d.]+ +[\\d.]+ +400 forbidden_word`))
    expect(stdout).toMatch(/^HOOK +REQUEST +ACTION +CALLS +P50 MS +P95 MS +WHAT\n/)
    expect(stderr).toContain('forbidden-word 1.0.0')
  })

  it('without the word it goes on', async () => {
    const { code, rows } = await tried([EXAMPLE, '--config', 'word=penguin'])
    expect(code).toBe(0)
    expect(rows.map(({ action }) => action)).toEqual(['continue', 'continue', 'continue', 'continue'])
  })

  it('tries answers, whole and by chunk, and says what changed', async () => {
    const module = file('stars.wasm', await guest({ exports: { on_response: stars('response'), on_chunk: stars('events') } }))
    const { code, rows } = await tried([module])
    expect(code).toBe(0)
    expect(new Set(rows.map(({ hook }) => hook))).toEqual(new Set(['on_response', 'on_chunk']))
    expect(rows.every(({ action }) => action === 'replace')).toBe(true)
    expect(rows.every(({ p50_ms }) => p50_ms !== null && p50_ms > 0)).toBe(true)
  })

  it('reads requests of one’s own: canonical ones, or with name and headers', async () => {
    const module = await guest({
      manifest: { abi: 1, name: 'teams', version: '1', headers: ['x-team'] },
      exports: { on_request: when('"x-team":"search"', says({ action: 'deny', status: 403, message: 'No.' })) },
    })
    const request = canonicalRequest({ model: 'chat/m', source: 'chat', messages: [user('Hi')] })
    const named = { name: 'of search', headers: { 'X-Team': 'search', 'x-other': '1' }, request }
    const requests = file('mine.jsonl', `${JSON.stringify(request)}\n\n${JSON.stringify(named)}\n`)
    const { rows } = await tried([file('teams.wasm', module), '--requests', requests])
    expect(rows.map(({ recording, action, changes }) => [recording, action, changes])).toEqual([
      ['line 1', 'continue', ''],
      ['of search', 'deny', '403 filter_denied: No.'],
    ])
  })

  it('ends with 1 when a call failed, and says why', async () => {
    const loop = file('loop.wasm', await guest({ exports: { on_request: LOOP } }))
    const { code, stdout } = await command(['filter', 'test', loop, '--limit-ms', '50'], { cwd })
    expect(code).toBe(1)
    expect(stdout.match(/failed +1 +- +- +timeout: It ran for more than 50 ms/g)).toHaveLength(4)
  })

  it('says what a module asks for that it does not get', async () => {
    const { code, stderr } = await command(['filter', 'test', file('no.wasm', 'no module')], { cwd })
    expect(code).toBe(1)
    expect(stderr).toMatch(/no\.wasm cannot be used\.\n {2}why {2}This is no WebAssembly module/)
  })

  it.each([
    [['nowhere.wasm'], 1, /nowhere\.wasm cannot be read\.\n {2}why {2}There is no such file/],
    [[EXAMPLE, '--requests', 'nowhere.jsonl'], 1, /nowhere\.jsonl cannot be read\.\n {2}why {2}There is no such file/],
    [[EXAMPLE, '--config', 'word'], 2, /--config: word is not of the form name=value/],
    [[EXAMPLE, '--runs', '0'], 2, /--runs must be between 1 and 10000/],
    [[EXAMPLE, '--limit-ms', 'soon'], 2, /--limit-ms: soon is not a whole number/],
    [[], 2, /<file> is missing/],
  ])('%j ends with %i', async (args, expected, message) => {
    const { code, stderr } = await command(['filter', 'test', ...(args as string[])], { cwd })
    expect(stderr).toMatch(message)
    expect(code).toBe(expected)
  })

  it.each([
    ['{', /Line 1 is no JSON/],
    ['{"messages":[]}', /Line 1 is no recording/],
    ['\n', /no request in the file/],
  ])('a file of requests that says %j is refused', async (content, message) => {
    const { code, stderr } = await command(['filter', 'test', EXAMPLE, '--requests', file('bad.jsonl', content)], { cwd })
    expect(stderr).toMatch(message)
    expect(code).toBe(1)
  })
})
