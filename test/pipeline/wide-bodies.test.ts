// Many small values in a large text: they are counted before the text is parsed, and the event loop continues meanwhile.
import { afterEach, describe, expect, it } from 'vitest'
import { createTestGateway, raw, type TestGateway } from '../../adapters/testing/index.ts'
import { objectScan, scanObject } from '../../core/json/json-scan.ts'
import { KeyStack } from '../../core/json/key-stack.ts'
import { encodeUtf8 } from '../../core/text/bytes.ts'
import { pathAndBody } from './support/wire.ts'

const open: TestGateway[] = []
afterEach(async () => {
  for (const one of open.splice(0)) await one.close()
})
const CALLERS = ['chat', 'messages', 'responses', 'generate_content'] as const

const started = async (env: Record<string, string> = {}): Promise<TestGateway> => {
  const t = await createTestGateway({ env })
  open.push(t)
  return t
}
/** Counts turns of the event loop while `work` runs. */
async function turnsDuring<T>(work: () => Promise<T>): Promise<{ turns: number; result: T }> {
  let turns = 0
  let over = false
  const count = () => {
    turns++
    if (!over) setImmediate(count)
  }
  setImmediate(count)
  const result = await work()
  over = true
  return { turns, result }
}
const wide = (element: string, count: number) => `[${`${element},`.repeat(count - 1)}${element}]`
const answer = (extra: string) =>
  `{"id":"x","object":"chat.completion","choices":[{"index":0,"message":{"role":"assistant","content":"ok"},"finish_reason":"stop"}],"extra":${extra}}`

describe('a request', () => {
  it.each(['[]', '{}', '""', '{"a":1}'])('with more of %s than the setting says is 400 in every dialect', async (element) => {
    const t = await started({ MAX_REQUEST_VALUES: '500' })
    for (const caller of CALLERS)
      for (const count of [600, 200_000]) {
        const { path, body } = pathAndBody(caller, 'chat/m', false)
        const text = `${JSON.stringify(body).slice(0, -1)},"x":${wide(element, count)}}`
        const response = await t.fetch(path, { method: 'POST', body: text, headers: { 'content-type': 'application/json' } })
        expect([caller, count, response.status]).toEqual([caller, count, 400])
        expect(await response.text()).toContain('more than 500')
      }
    expect(t.upstream.requests).toEqual([])
  })

  it('may have 20 times as many numbers, and no more than their own setting says', async () => {
    const t = await started()
    const ask = (count: number) =>
      t.fetch('/v1/chat/completions', {
        method: 'POST',
        body: `{"model":"chat/m","messages":[{"role":"user","content":"hi"}],"x":${wide('1', count)}}`,
        headers: { 'content-type': 'application/json' },
      })
    expect((await ask(400_000)).status).toBe(200)
    expect((await ask(4_000_001)).status).toBe(400)
  })

  it('is scanned in turns', async () => {
    const t = await started()
    const text = `{"model":"chat/m","messages":[{"role":"user","content":"hi"}],"x":${wide('1', 1_000_000)}}`
    const { turns, result } = await turnsDuring(() =>
      t.fetch('/v1/chat/completions', { method: 'POST', body: text, headers: { 'content-type': 'application/json' } }),
    )
    expect(result.status).toBe(200)
    expect(turns).toBeGreaterThan(50)
  })
})

describe('an answer', () => {
  it.each(CALLERS)('to %s with too many values is 502, and nothing is built of it', async (caller) => {
    const t = await started()
    const { path, body } = pathAndBody(caller, 'chat/m', false)
    t.upstream.script(raw(200, answer(wide('[]', 2_000_000))))
    const { turns, result } = await turnsDuring(() => t.post(path, body))
    expect(result.status).toBe(502)
    expect(turns).toBeGreaterThan(20)
  })

  it('within the settings is passed on, and one above is not', async () => {
    const t = await started({ MAX_ANSWER_VALUES: '5000', MAX_ANSWER_NUMBERS: '100000' })
    const { path, body } = pathAndBody('chat', 'chat/m', false)
    for (const [element, count, status] of [
      ['[]', 4000, 200],
      ['[]', 5000, 502],
      ['1.5', 99_000, 200],
      ['1.5', 100_001, 502],
    ] as const) {
      t.upstream.script(raw(200, answer(wide(element, count))))
      expect([element, count, (await t.post(path, body)).status]).toEqual([element, count, status])
    }
  })
})

it.each(CALLERS)('an event of a stream to %s with too many values is an error, and is not built', async (caller) => {
  const t = await started({ MAX_ANSWER_VALUES: '5000' })
  const { path, body } = pathAndBody(caller, 'messages/m', true)
  const event = `event: message_start\ndata: {"type":"message_start","message":{"id":"x"},"y":${wide('[]', 6000)}}\n\n`
  t.upstream.script(raw(200, event, { contentType: 'text/event-stream' }))
  expect((await t.post(path, body)).status).toBe(502)
})

it('a scan in steps finds what a scan at once finds, however it is cut', () => {
  const text = encodeUtf8('{"a":[1,2,{"b":[[],{}," ",null]}],"c":{"d":{"e":[true,-1.5e3]}}, "f" : "x\\"y","g":[]}')
  const whole = scanObject(text)
  for (let size = 1; size < 40; size++) {
    const scan = objectScan(text, { values: 100, numbers: 100 }, new KeyStack())
    let found = scan(size)
    while (found === null) found = scan(size)
    expect(found).toEqual(whole)
  }
})
