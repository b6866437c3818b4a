// POST /v1/responses/compact: native, heuristic and by a model, and the way back of its items on every upstream.
import OpenAI from 'openai'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createTestGateway, type TestGateway } from '../../adapters/testing/index.ts'

const DIALECTS = ['chat', 'messages', 'responses', 'generate_content'] as const

let t: TestGateway
beforeEach(async () => {
  t = await createTestGateway()
})
afterEach(() => t.close())

type Item = Record<string, unknown>
const user = (text: string): Item => ({ type: 'message', role: 'user', content: [{ type: 'input_text', text }] })
const said = (text: string): Item => ({ type: 'message', role: 'assistant', content: [{ type: 'output_text', text }] })
const call = (n: number): Item => ({ type: 'function_call', call_id: `c${n}`, name: 'read_file', arguments: `{"n":${n}}` })
const result = (n: number, output = `content ${n}`): Item => ({ type: 'function_call_output', call_id: `c${n}`, output })
const thought = (n: number): Item => ({ type: 'reasoning', id: `rs_${n}`, summary: [], encrypted_content: 'x' })

/** One question, and ten turns of the model that read a file each. */
const SESSION = [
  { type: 'message', role: 'developer', content: 'Be brief.' },
  user('Find the bug.'),
  ...Array.from({ length: 10 }, (_, n) => [thought(n), said(`Looking at ${n}.`), call(n), result(n)]).flat(),
]

interface Compacted {
  object: string
  id: string
  output: Item[]
  usage: { input_tokens: number; output_tokens: number; total_tokens: number }
}

async function compact(body: object): Promise<Compacted> {
  const response = await t.post('/v1/responses/compact', body)
  const text = await response.text()
  expect(response.status, text).toBe(200)
  return JSON.parse(text)
}

async function refused(path: string, body: object): Promise<{ status: number; param: string; message: string }> {
  const response = await t.post(path, body)
  const { error } = (await response.json()) as { error: { param: string; message: string } }
  return { status: response.status, param: error.param, message: error.message }
}

const kinds = (items: readonly Item[]) => items.map(({ type, role, call_id: id }) => [role ?? type, id].filter(Boolean).join(' '))

describe('without a model', () => {
  it('keeps instructions, messages of the user and the last four turns, and seals the rest', async () => {
    const { object, id, output, usage } = await compact({ model: 'chat/m', input: SESSION })
    expect(object).toBe('response.compaction')
    expect(id).toMatch(/^resp_/)
    const tail = [6, 7, 8, 9].flatMap((n) => ['assistant', `function_call c${n}`, `function_call_output c${n}`])
    expect(kinds(output)).toEqual(['developer', 'user', 'compaction', ...tail])
    expect(output[2]?.encrypted_content).toMatch(/^gw1\./)
    expect(JSON.stringify(output)).not.toContain('content 3')
    expect(usage).toMatchObject({ input_tokens: 0, output_tokens: 0, total_tokens: 0 })
    expect(t.upstream.requests).toHaveLength(0)
  })

  it.each(DIALECTS)('its output is accepted back for a %s upstream, and says what it left out', async (target) => {
    const { output } = await compact({ model: `${target}/m`, input: SESSION, mode: 'heuristic' })
    const response = await t.post('/v1/responses', { model: `${target}/m`, input: [...output, user('Go on.')] })
    expect(response.status, await response.clone().text()).toBe(200)
    const sent = t.upstream.requests.at(-1)?.text ?? ''
    for (const text of ['Earlier part of this conversation', 'Looking at 2.', 'read_file', 'content 3', 'content 9', 'Go on.'])
      expect(sent).toContain(text)
    expect(sent).not.toContain('gw1.')
  })

  it.each(DIALECTS)('a conversation that is short already comes back as it was, for a %s upstream', async (target) => {
    const model = `${target}/m`
    const found = { type: 'output_text', text: 'Found it.', annotations: [] }
    const short = [user('Find the bug.'), { type: 'message', role: 'assistant', content: [found] }]
    const { output } = await compact({ model, input: short, mode: 'heuristic' })
    expect(kinds(output)).toEqual(['user', 'compaction', 'assistant'])
    const ask = (input: Item[]) => t.post('/v1/responses', { model, input: [...input, user('Go on.')], store: false })
    expect([(await ask(short)).status, (await ask(output)).status]).toEqual([200, 200])
    const [plain, compacted] = t.upstream.requests.map(({ json }) => json)
    expect(compacted).toEqual(plain)
  })

  it('compacts what was compacted before: one digest, not two', async () => {
    const { output } = await compact({ model: 'chat/m', input: SESSION })
    const more = Array.from({ length: 6 }, (_, n) => [call(20 + n), result(20 + n)]).flat()
    const again = await compact({ model: 'chat/m', input: [...output, user('More.'), ...more] })
    expect(again.output.filter(({ type }) => type === 'compaction')).toHaveLength(1)
    expect(again.output.filter(({ role }) => role === 'developer')).toHaveLength(1)
    await t.post('/v1/responses', { model: 'chat/m', input: again.output })
    const sent = t.upstream.requests.at(-1)?.text ?? ''
    for (const text of ['content 3', 'content 9', 'content 21', 'content 25']) expect(sent).toContain(text)
  })

  it('keeps no result without its call, and cuts what is long', async () => {
    const long = 'y'.repeat(20_000)
    const input = [
      user(long),
      call(0),
      ...Array.from({ length: 5 }, (_, n) => [call(n + 1), result(n + 1, long)]).flat(),
      result(0),
    ]
    const { output } = await compact({ model: 'chat/m', input })
    const calls = new Set(output.filter(({ type }) => type === 'function_call').map(({ call_id: id }) => id))
    const results = output.filter(({ type }) => type === 'function_call_output').map(({ call_id: id }) => id)
    expect(results.every((id) => calls.has(id))).toBe(true)
    expect(JSON.stringify(output[0])?.length).toBeLessThan(8200)
  })

  it.each(['heuristic', 'model'])('%s: refuses what it cannot read, and nothing is sent', async (mode) => {
    const message = (more: object) => ({ type: 'message', role: 'user', content: 'hi', ...more })
    for (const [item, param] of [
      [{ type: 'compaction', id: 'cmp_1', encrypted_content: 'of a vendor' }, 'input'],
      [{ type: 'compaction', id: 'cmp_1', encrypted_content: 5 }, 'input'],
      [{ type: 'compaction_summary', encrypted_content: 'of a vendor' }, 'input'],
      [{ type: 'item_reference', id: 'msg_1' }, 'input[1]'],
      [{}, 'input[1].role'],
      [{ type: 5 }, 'input[1].type'],
      [message({ role: 'boss' }), 'input[1].role'],
      [message({ content: undefined }), 'input[1].content'],
      [message({ content: 5 }), 'input[1].content'],
      [message({ content: [5] }), 'input[1].content'],
      [{ ...call(1), name: {} }, 'input[1].name'],
      [{ ...call(1), arguments: undefined }, 'input[1].arguments'],
      [{ ...result(1), call_id: undefined }, 'input[1].call_id'],
    ] as const)
      for (const model of mode === 'model' ? ['messages/m', 'responses/m'] : ['messages/m'])
        expect(
          await refused('/v1/responses/compact', { model, mode, input: [user('hi'), item] }),
          JSON.stringify(item),
        ).toMatchObject({ status: 400, param })
    expect(t.upstream.requests).toHaveLength(0)
  })

  it('refuses `previous_response_id`', async () => {
    const asked = { model: 'chat/m', input: 'hi', previous_response_id: 'resp_0' }
    expect(await refused('/v1/responses/compact', asked)).toMatchObject({ status: 400, param: 'previous_response_id' })
  })
})

describe('by the vendor', () => {
  it('passes request and answer through', async () => {
    const { output, usage } = await compact({ model: 'responses/m', input: SESSION, prompt_cache_key: 'k' })
    expect(output.at(-1)).toEqual({ id: 'cmp_1', type: 'compaction', encrypted_content: 'vendor-secret' })
    expect(usage.total_tokens).toBe(60)
    const [sent] = t.upstream.requests
    expect(sent?.path).toBe('/v1/responses/compact')
    expect(sent?.json).toEqual({ model: 'm', input: SESSION, prompt_cache_key: 'k' })
    await t.untilSettled(1)
    expect(t.settled[0]?.outcome.usage).toMatchObject({ inputTotal: 50, outputTotal: 10 })
  })

  it('gets the content of the gateway’s own items as text', async () => {
    const { output } = await compact({ model: 'chat/m', input: SESSION })
    await compact({ model: 'responses/m', input: output, mode: 'native' })
    const sent = t.upstream.requests.at(-1)?.text ?? ''
    expect(sent).toContain('content 3')
    expect(sent).not.toMatch(/gw1\.|"mode"/)
  })

  it('falls back to the heuristic when the upstream has no such route', async () => {
    await t.close()
    t = await createTestGateway({
      upstream: [{ kind: 'raw', status: 404, body: '{"error":{"message":"no such route"}}' } as never],
    })
    const { output } = await compact({ model: 'responses/m', input: SESSION })
    expect(output[2]?.encrypted_content).toMatch(/^gw1\./)
  })
})

describe('by a model', () => {
  it('asks the request’s model for a summary, and bills the call to the key', async () => {
    const { output, usage } = await compact({ model: 'messages/m', input: SESSION, mode: 'model' })
    expect(kinds(output)).toEqual(['developer', 'user', 'compaction'])
    const [sent] = t.upstream.requests
    expect(sent?.path).toBe('/v1/messages')
    expect(sent?.text).toContain('content 9')
    expect(usage.output_tokens).toBeGreaterThan(0)
    await t.untilSettled(1)
    const { outcome } = t.settled[0] as (typeof t.settled)[number]
    expect(outcome.steps).toMatchObject([{ source: 'compact', provider: 'messages' }])
    expect(t.settled).toHaveLength(1)
  })

  it('uses the model of the setting', async () => {
    await t.fetch('/api/settings', {
      method: 'PUT',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ compact: { model: 'generate_content/small' } }),
    })
    await compact({ model: 'messages/m', input: SESSION, mode: 'model' })
    expect(t.upstream.requests.at(-1)?.path).toContain('/models/small:generateContent')
  })
})

describe('items that cannot be read', () => {
  it.each(DIALECTS)('a changed item is refused for a %s upstream, and nothing is sent', async (target) => {
    const { output } = await compact({ model: 'chat/m', input: SESSION })
    const [item] = output.filter(({ type }) => type === 'compaction')
    const content = String(item?.encrypted_content)
    const at = Math.floor(content.length / 2)
    const changed = {
      ...item,
      encrypted_content: content.slice(0, at) + (content[at] === 'A' ? 'B' : 'A') + content.slice(at + 1),
    }
    const input = [user('hi'), changed]
    expect(await refused('/v1/responses', { model: `${target}/m`, input })).toMatchObject({ status: 400, param: 'input' })
    expect(await refused('/v1/responses/compact', { model: `${target}/m`, input })).toMatchObject({ status: 400, param: 'input' })
    expect(t.upstream.requests).toHaveLength(0)
  })

  it.each(DIALECTS)('a vendor’s own item: %s', async (target) => {
    const input = [user('hi'), { type: 'compaction', id: 'cmp_1', encrypted_content: 'vendor-secret' }]
    if (target === 'responses') {
      expect((await t.post('/v1/responses', { model: 'responses/m', input })).status).toBe(200)
      expect(t.upstream.requests[0]?.text).toContain('vendor-secret')
    } else {
      expect(await refused('/v1/responses', { model: `${target}/m`, input })).toMatchObject({ status: 400, param: 'input' })
      expect(t.upstream.requests).toHaveLength(0)
    }
  })
})

it.each([
  [{ input: 'hi' }, 'model'],
  [{ model: 'chat/m' }, 'input'],
  [{ model: 'chat/m', input: [] }, 'input'],
  [{ model: 'chat/m', input: [1] }, 'input[0]'],
  [{ model: 'chat/m', input: 'hi', mode: 'fast' }, 'mode'],
  [{ model: 'chat/m', input: 'hi', instructions: 1 }, 'instructions'],
])('refuses %j, naming `%s`', async (body, param) => {
  expect(await refused('/v1/responses/compact', body)).toMatchObject({ status: 400, param })
})

it('the openai SDK compacts, and sends the output back', async () => {
  const { port } = await t.listen()
  const client = new OpenAI({ apiKey: 'none', baseURL: `http://127.0.0.1:${port}/v1` })
  const compacted = await client.responses.compact({ model: 'generate_content/m', input: SESSION as never })
  expect(compacted.object).toBe('response.compaction')
  const answer = await client.responses.create({ model: 'messages/m', input: compacted.output as never })
  expect(answer.output_text).not.toBe('')
})
