// Members that a vendor adds to usage and to the message survive when a plugin reads the answer, which decodes and encodes it.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createTestGateway, frames, raw, type TestGateway } from '../../adapters/testing/index.ts'
import { definePlugin } from '../../core/index.ts'

const touching = definePlugin({
  name: 'touching',
  setup(gateway) {
    gateway.hook('stream', () => ({ event: (event, emit) => emit(event) }))
    gateway.hook('response', (_ctx, response) => ({ ...response }) as never)
  },
})

let t: TestGateway
beforeAll(async () => {
  t = await createTestGateway({ plugins: [touching()] })
})
afterAll(() => t.close())

const COUNTS = { prompt_tokens: 5, completion_tokens: 2, total_tokens: 7 }
const USAGE = { ...COUNTS, cost: 0.25, prompt_tokens_details: { cached_tokens: 1, video_tokens: 0 }, cost_details: { a: 1 } }
const chunk = (choice: object, rest: object = {}) =>
  `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm', choices: [choice], ...rest })}\n\n`

describe('chat', () => {
  const body = { model: 'chat/m', messages: [{ role: 'user', content: 'hi' }] }

  it('keeps them in a whole answer', async () => {
    const message = { role: 'assistant', content: 'ok', provider_specific_fields: { a: [1] }, mood: 'calm' }
    const wire = {
      id: 'c',
      object: 'chat.completion',
      created: 1,
      model: 'm',
      usage: USAGE,
      choices: [{ index: 0, message, finish_reason: 'stop', native_finish_reason: 'STOP' }],
    }
    t.upstream.script(raw(200, JSON.stringify(wire)))
    const answer = await (await t.post('/v1/chat/completions', body)).json()
    expect(answer).toMatchObject({ usage: USAGE, choices: [{ message, native_finish_reason: 'STOP' }] })
  })

  it('keeps them in a stream', async () => {
    t.upstream.script(
      frames([
        chunk({
          index: 0,
          delta: { role: 'assistant', content: 'o', mood: 'ca', fields: { a: 1 }, hits: [1] },
          finish_reason: null,
        }),
        chunk({ index: 0, delta: { content: 'k', mood: 'lm', hits: [2] }, finish_reason: null }),
        chunk({ index: 0, delta: { late: true }, finish_reason: 'stop' }),
        `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm', choices: [], usage: USAGE })}\n\n`,
        'data: [DONE]\n\n',
      ]),
    )
    const response = await t.post('/v1/chat/completions', { ...body, stream: true, stream_options: { include_usage: true } })
    const chunks = (await response.text())
      .split('\n\n')
      .filter((line) => line.startsWith('data: {'))
      .map((line) => JSON.parse(line.slice(6)))
    expect(chunks.at(-1)).toMatchObject({ choices: [], usage: USAGE })
    expect(
      Object.assign({}, ...chunks.flatMap(({ choices }) => choices.map(({ delta }: { delta: object }) => delta))),
    ).toMatchObject({
      mood: 'calm',
      fields: { a: 1 },
      hits: [1, 2],
      late: true,
    })
  })
})

it('messages keeps what stands beside the counts', async () => {
  const usage = {
    input_tokens: 5,
    output_tokens: 2,
    cache_read_input_tokens: 1,
    cache_creation_input_tokens: 0,
    service_tier: 'batch',
    inference_geo: 'eu',
    vendor_cost: 3,
  }
  const wire = { id: 'msg_1', type: 'message', role: 'assistant', model: 'm', content: [{ type: 'text', text: 'ok' }] }
  t.upstream.script(raw(200, JSON.stringify({ ...wire, stop_reason: 'end_turn', stop_sequence: null, usage })))
  const body = { model: 'messages/m', max_tokens: 9, messages: [{ role: 'user', content: 'hi' }] }
  expect(await (await t.post('/v1/messages', body)).json()).toMatchObject({ usage })
  const frame = (data: { type: string; [name: string]: unknown }) => `event: ${data.type}\ndata: ${JSON.stringify(data)}\n\n`
  t.upstream.script(
    frames([
      frame({
        type: 'message_start',
        message: { ...wire, content: [], stop_reason: null, usage: { ...usage, output_tokens: 1 } },
      }),
      frame({ type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } }),
      frame({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'ok' } }),
      frame({ type: 'content_block_stop', index: 0 }),
      frame({ type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 2, vendor_cost: 4 } }),
      frame({ type: 'message_stop' }),
    ]),
  )
  const text = await (await t.post('/v1/messages', { ...body, stream: true })).text()
  const last = JSON.parse(/event: message_delta\ndata: (.*)/.exec(text)?.[1] ?? '{}')
  expect(last.usage).toMatchObject({ input_tokens: 5, output_tokens: 2, vendor_cost: 4 })
  expect(last.usage).not.toHaveProperty('inference_geo')
})

it('generate-content and responses keep them too', async () => {
  const usageMetadata = { promptTokenCount: 5, candidatesTokenCount: 2, totalTokenCount: 7, trafficType: 'ON_DEMAND' }
  const candidates = [{ index: 0, finishReason: 'STOP', content: { role: 'model', parts: [{ text: 'ok' }] } }]
  t.upstream.script(raw(200, JSON.stringify({ candidates, usageMetadata, modelVersion: 'm' })))
  const asked = { contents: [{ role: 'user', parts: [{ text: 'hi' }] }] }
  const gemini = await t.post('/v1beta/models/generate_content/m:generateContent', asked)
  expect(await gemini.json()).toMatchObject({ usageMetadata })

  const usage = { input_tokens: 5, output_tokens: 2, total_tokens: 7, cost: 1, input_tokens_details: { cached_tokens: 0, x: 2 } }
  const output = [{ id: 'msg_1', type: 'message', role: 'assistant', status: 'completed', content: [] as object[] }]
  output[0]?.content.push({ type: 'output_text', text: 'ok', annotations: [] })
  t.upstream.script(
    raw(200, JSON.stringify({ id: 'resp_1', object: 'response', model: 'm', status: 'completed', output, usage })),
  )
  expect(await (await t.post('/v1/responses', { model: 'responses/m', input: 'hi' })).json()).toMatchObject({ usage })
})

it('a reference without its type is refused by name on a foreign target', async () => {
  for (const type of ['item_reference', undefined, null]) {
    const input = [
      { role: 'user', content: 'hi' },
      { ...(type === undefined ? {} : { type }), id: 'rs_1' },
    ]
    const response = await t.post('/v1/responses', { model: 'chat/m', input })
    expect(response.status).toBe(400)
    expect(await response.text()).toContain('item_reference')
  }
})
