// What a hostile module does, it does to the request that it was asked about; those beside it are answered,
// through the same gateway and the same filter.
import { describe, expect, it } from 'vitest'
import { ask, DIALECTS, ERROR_FRAME, post } from '../../adapters/node/support.ts'
import { answerOf, saidBy } from '../../support/dialects.ts'
import {
  assemble,
  type Body,
  guest,
  HUGE_BLOCK,
  HUGE_OUTPUT,
  LOG_FLOOD,
  LOOP,
  LYING_OUTPUT,
  MEMORY_BOMB,
  NEGATIVE_OUTPUT,
  says,
  TRAP,
  when,
} from './guests.ts'
import { type Filtered, filteredOnes } from './support.ts'

const filtered = filteredOnes()

const deep = '['.repeat(2_000) + ']'.repeat(2_000)
const FORGED: Record<string, unknown> = {
  'no JSON': '{"action":',
  'no object': 'null',
  'an unknown action': { action: 'destroy' },
  'a member too many': { action: 'continue', key_id: 7 },
  'a denial without a message': { action: 'deny', status: 400 },
  'a request of wrong types': { action: 'replace', request: { model: 1, messages: 'all' } },
  'a depth of 2,000': `{"action":"replace","request":${deep}}`,
  'a prototype': '{"action":"continue","__proto__":{"polluted":1}}',
  'no UTF-8': Uint8Array.from([0x7b, 0xff, 0x7d]),
  infinity: '{"action":"deny","status":1e999,"message":"No."}',
  '200,000 values': `{"action":"replace","request":[${'0,'.repeat(200_000)}0]}`,
}

const BEHAVIOURS: Record<string, [body: Body, reason: string]> = {
  'an endless loop': [LOOP, 'timeout'],
  'a trap': [TRAP, 'trap'],
  'a memory bomb': [MEMORY_BOMB, 'memory'],
  'a block of 64 GiB': [HUGE_BLOCK, 'memory'],
  'an output of 64 MiB': [HUGE_OUTPUT, 'too_large'],
  'an output of negative length': [NEGATIVE_OUTPUT, 'too_large'],
  'an output longer than its block': [LYING_OUTPUT, 'trap'],
  'a flood of log lines': [LOG_FLOOD, 'timeout'],
  ...Object.fromEntries(Object.entries(FORGED).map(([name, answer]) => [`as output ${name}`, [says(answer), 'bad_output']])),
}
/** Those that never end are ended; of the others nobody is to be, however slow the machine. */
const limits = (reason: string) => (reason === 'timeout' ? { request: 1500, response: 1500, chunk: 1500 } : {})

/** Five callers that ask for nothing bad, in all dialects. */
async function others({ t }: Filtered, stream: boolean): Promise<void> {
  const { url } = await t.listen()
  const answers = [...DIALECTS, 'chat' as const].map(async (dialect, index) => {
    const question = `What is number ${index}?`
    const response = await post(url, ask(dialect, 'echo/echo-1', { text: question, stream }))
    const answer = await response.text()
    expect(response.status, answer).toBe(200)
    expect(saidBy(answerOf(dialect, answer, stream)).text).toBe(question)
  })
  await Promise.all(answers)
}

describe.each(Object.entries(BEHAVIOURS))('%s', (_name, [body, reason]) => {
  it('in on_request', async () => {
    const running = await filtered([await guest({ exports: { on_request: when('evil', body) } })], {
      echo: true,
      timeouts: limits(reason),
    })
    const { url } = await running.t.listen()
    const bad = post(url, ask('messages', 'echo/echo-1', { text: 'evil' }))
    await Promise.all([others(running, false), others(running, true)])
    expect((await bad).status).toBe(503)
    expect(await (await bad).json()).toMatchObject({ error: { message: expect.stringContaining(reason) } })
    expect(await running.failures()).toEqual({ [reason]: 1 })
    await others(running, false)
  })

  it('in on_response and on_chunk', async () => {
    const exports = { on_response: when('evil', body), on_chunk: when('evil', body) }
    const running = await filtered([await guest({ exports })], { echo: true, timeouts: limits(reason) })
    const { url } = await running.t.listen()
    const whole = post(url, ask('chat', 'echo/echo-1', { text: 'evil' }))
    const streamed = post(url, ask('responses', 'echo/echo-1', { text: 'evil', stream: true }))
    await Promise.all([others(running, false), others(running, true)])
    expect((await whole).status).toBe(503)
    const frames = await (await streamed).text()
    if ((await streamed).status === 200) expect(frames).toMatch(ERROR_FRAME.responses)
    else expect((await streamed).status).toBe(503)
    expect(await running.failures()).toEqual({ [reason]: 2 })
    await others(running, true)
  })
})

describe('what it gets for it', () => {
  it('memory ends at 16 MiB', async () => {
    const tooMuch = `(if (i32.ne (memory.grow (i32.const 225)) (i32.const -1)) (then unreachable))
      (if (i32.eq (memory.grow (i32.const 224)) (i32.const -1)) (then unreachable))`
    const { t } = await filtered([await guest({ exports: { on_request: { code: tooMuch } } })], { echo: true })
    const { path, body } = ask('chat', 'echo/echo-1')
    expect((await t.post(path, body)).status).toBe(200)
  })

  it('a flood of log lines is cut, in a call and in a minute', async () => {
    const once: Body = {
      texts: { line: 'so much to say' },
      code: `(local.set $block (call $block_line))
        (loop $again (call $log_info (local.get $block)) (local.set $i (i64.add (local.get $i) (i64.const 1)))
          (br_if $again (i64.lt_u (local.get $i) (i64.const 1000))))`,
    }
    const { t, log, clock } = await filtered([await guest({ exports: { on_request: once } })], { echo: true })
    const written = () => log.lines.filter(({ message }) => message === 'wasm.log').length
    const { path, body } = ask('chat', 'echo/echo-1')
    await t.post(path, body)
    expect(written()).toBe(16)
    for (let i = 0; i < 9; i++) await t.post(path, body)
    expect(written()).toBe(60)
    expect(log.lines.filter(({ message }) => message === 'wasm.log_cut')).toHaveLength(1)
    await clock.advance('61s')
    await t.post(path, body)
    expect(written()).toBe(76)
  })
})

describe('a module that asks for more than it gets is refused when it is loaded, by name', () => {
  const manifest = '(func (export "manifest") (result i32) (i32.const 0))'
  const MODULES: Record<string, [wat: string, why: RegExp]> = {
    WASI: [
      `(import "wasi_snapshot_preview1" "fd_write" (func (param i32 i32 i32 i32) (result i32)))`,
      /wasi_snapshot_preview1\.fd_write.*wasm32-unknown-unknown/,
    ],
    network: ['(import "extism:host/env" "http_request" (func (param i64 i64) (result i64)))', /extism:host\/env\.http_request/],
    'functions of its own making': ['(import "env" "open" (func (param i32) (result i32)))', /env\.open/],
    'an inherited name': ['(import "extism:host/env" "constructor" (func))', /constructor/],
    'the host’s memory': ['(import "env" "memory" (memory 1))', /env\.memory/],
    'a memory of 32 MiB': ['(memory 512)', /asks for 512 pages/],
    'a table of ten million': ['(table 10000000 funcref)', /more than 65536 entries/],
    'an endless start': ['(func $s (loop $l (br $l))) (start $s)', /more than 300 ms to begin/],
    'a start that traps': ['(func $s unreachable) (start $s)', /unreachable/],
  }

  it.each(Object.entries(MODULES))('%s', async (_name, [wat, why]) => {
    const module = await assemble(`(module ${wat} ${manifest})`)
    const timeouts = wat.includes('loop') ? { init: 300 } : {}
    await expect(filtered([module], { timeouts })).rejects.toThrow(why)
  })

  it.each([
    ['no manifest', '(module)', /does not export `manifest`/],
    ['an empty manifest', `(module ${manifest})`, /no JSON/],
  ])('%s', async (_name, wat, why) => {
    await expect(filtered([await assemble(wat)])).rejects.toThrow(why)
  })

  it.each([
    ['another ABI', { abi: 2, name: 'x', version: '1' }, /abi/],
    ['a name for a terminal', { abi: 1, name: '\u001b[31m', version: '1' }, /name/],
    ['the caller’s key', { abi: 1, name: 'x', version: '1', headers: ['authorization'] }, /headers\.0.*credential/],
    ['the caller’s other key', { abi: 1, name: 'x', version: '1', headers: ['x-api-key'] }, /headers\.0.*credential/],
    ['a hook that it does not export', { abi: 1, name: 'x', version: '1', hooks: ['chunk'] }, /on_chunk/],
  ])('a manifest with %s', async (_name, said, why) => {
    await expect(filtered([await guest({ manifest: said })])).rejects.toThrow(why)
  })

  it.each([
    ['no module', Uint8Array.from([1, 2, 3]), /no WebAssembly module/],
    ['half a module', Uint8Array.from([0, 0x61, 0x73, 0x6d, 1, 0, 0, 0, 5, 9]), /cut short/],
  ])('%s', async (_name, module, why) => {
    await expect(filtered([module])).rejects.toThrow(why)
  })
})
