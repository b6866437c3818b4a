import { streamText } from 'ai'
import { describe, expect, it } from 'vitest'
import { GatewayError } from '../../../../core/errors/gateway-error.ts'
import { unwrapSignature } from '../../../../core/models/signature.ts'
import { replay } from '../../../../core/stream/collect.ts'
import type { Finish } from '../../../../core/types/request/answer.ts'
import type { Part } from '../../../../core/types/request/canonical.ts'
import type { StreamEvent } from '../../../../core/types/request/stream.ts'
import { aiModel, call, codec, driver, encodeEvents, sdkResponse, type Wire, wireEvents } from './support.ts'

const USAGE = { inputTotal: 10, cacheRead: 4, cacheWrite: 0, outputTotal: 6, total: 16, estimated: false, raw: null }

function eventsOf(parts: Part[], finish: Finish = 'stop'): StreamEvent[] {
  const events: StreamEvent[] = []
  replay(
    {
      id: 'msg_up',
      created: 7,
      model: 'up',
      choices: [{ index: 0, parts, finish, nativeFinish: finish }],
      usage: USAGE,
      ext: {},
    },
    (event) => void events.push(event),
  )
  return events
}
const types = (text: string) => wireEvents(text).map((event) => event.type.replace('response.', ''))
const last = (text: string): Wire => wireEvents(text).at(-1)

describe('responses: encoding a stream', () => {
  const parts: Part[] = [
    { t: 'reasoning', text: 'hm', signature: { dialect: 'messages', modelFamily: 'claude', value: 's' } },
    { t: 'text', text: 'hello ' },
    { t: 'text', text: 'world' },
    call('a', 'f', '{"x":1}'),
    call('b', 'patch', '*** Begin', { kind: 'custom' }),
    { t: 'refusal', text: 'no' },
  ]

  it('created is first, items open and close, sequence numbers have no gaps, and the output is as streamed', () => {
    const text = encodeEvents(eventsOf(parts))
    const events = wireEvents(text)
    expect(events.map((event) => event.sequence_number)).toEqual(events.map((_, index) => index))
    expect(types(text)).toEqual([
      'created',
      'in_progress',
      'output_item.added',
      'reasoning_summary_part.added',
      'reasoning_summary_text.delta',
      'reasoning_summary_text.done',
      'reasoning_summary_part.done',
      'output_item.done',
      'output_item.added',
      'content_part.added',
      'output_text.delta',
      'output_text.done',
      'content_part.done',
      'content_part.added',
      'output_text.delta',
      'output_text.done',
      'content_part.done',
      'output_item.done',
      'output_item.added',
      'function_call_arguments.delta',
      'function_call_arguments.done',
      'output_item.done',
      'output_item.added',
      'custom_tool_call_input.delta',
      'custom_tool_call_input.done',
      'output_item.done',
      'output_item.added',
      'content_part.added',
      'refusal.delta',
      'refusal.done',
      'content_part.done',
      'output_item.done',
      'completed',
    ])
    const done = events.filter((event) => event.type === 'response.output_item.done')
    expect(done.map((event) => event.output_index)).toEqual([0, 1, 2, 3, 4])
    const { response } = events.at(-1)
    expect(response.output).toEqual(done.map((event) => event.item))
    expect(response.usage).toEqual({
      input_tokens: 10,
      input_tokens_details: { cached_tokens: 4, cache_write_tokens: 0 },
      output_tokens: 6,
      output_tokens_details: { reasoning_tokens: 0 },
      total_tokens: 16,
    })
    expect(response).toMatchObject({
      status: 'completed',
      completed_at: 1_795_000_000,
      created_at: 7,
      model: 'up',
      store: false,
      truncation: 'disabled',
    })
    expect(events[0].response).toMatchObject({ status: 'in_progress', completed_at: null, output: [], usage: null })
    expect(new Set(events.filter((event) => event.response).map((event) => event.response.id)).size).toBe(1)
    expect(unwrapSignature(response.output[0].encrypted_content)).toMatchObject({ dialect: 'messages', value: 's' })
  })

  it('the official stream helper and the AI SDK read it to the end', async () => {
    const text = encodeEvents(eventsOf(parts, 'tool_calls'))
    const response = await sdkResponse(text)
    expect(response.output_text).toBe('hello world')
    expect(response.output.map((item: Wire) => item.type)).toEqual([
      'reasoning',
      'message',
      'function_call',
      'custom_tool_call',
      'message',
    ])
    const streamed = streamText({ model: aiModel(text), prompt: 'x' })
    expect(await streamed.text).toContain('hello world')
    expect(await streamed.reasoningText).toBe('hm')
    expect((await streamed.toolCalls)[0]).toMatchObject({ toolCallId: 'a', toolName: 'f' })
    expect(await streamed.usage).toMatchObject({ inputTokens: 10, outputTokens: 6 })
  })

  it.each<[Finish, string, string | null]>([
    ['stop', 'completed', null],
    ['length', 'incomplete', 'max_output_tokens'],
    ['content_filter', 'incomplete', 'content_filter'],
    ['refusal', 'incomplete', 'content_filter'],
    ['pause', 'completed', null],
    ['error', 'failed', null],
  ])('finish %s ends with response.%s', (finish, status, reason) => {
    const event = last(encodeEvents(eventsOf([{ t: 'text', text: 'x' }], finish)))
    expect(event.type).toBe(`response.${status}`)
    expect(event.response.incomplete_details).toEqual(reason === null ? null : { reason })
  })

  it('a stream without finish and usage still ends with a complete response', () => {
    const event = last(
      encodeEvents([
        { e: 'part_start', choice: 0, part: 0, kind: 'text', meta: {} },
        { e: 'delta', choice: 0, part: 0, d: { text: 'x' } },
        { e: 'end' },
      ]),
    )
    expect(event.type).toBe('response.completed')
    expect(event.response.output[0].content[0].text).toBe('x')
    expect(event.response.usage).toMatchObject({
      total_tokens: 0,
      input_tokens_details: { cached_tokens: 0 },
      output_tokens_details: { reasoning_tokens: 0 },
    })
  })

  it('an error ends with response.failed and the output so far', async () => {
    const encoder = driver.encodeStream(codec())
    const open: StreamEvent[] = [
      ...eventsOf([{ t: 'text', text: 'done' }]).slice(0, -3),
      { e: 'part_start', choice: 0, part: 1, kind: 'tool_call', meta: { id: 'c', name: 'f' } },
      { e: 'delta', choice: 0, part: 1, d: { args: '{"a' } },
    ]
    const text = open.map((event) => encoder.event(event)).join('') + encoder.error(GatewayError.network('reset', 'cut'))
    const event = last(text)
    expect(event).toMatchObject({
      type: 'response.failed',
      response: { status: 'failed', completed_at: null, error: { code: 'server_error', message: 'cut' } },
    })
    expect(event.response.output).toMatchObject([
      { type: 'message', content: [{ text: 'done', logprobs: [] }] },
      { type: 'function_call', status: 'incomplete', arguments: '{"a' },
    ])
    expect(encoder.event({ e: 'end' })).toBe('')
    const response = await sdkResponse(text)
    expect(response).toMatchObject({ status: 'failed', output_text: 'done' })
  })

  it('an error before anything still begins with response.created', () => {
    const text = driver.encodeStream(codec()).error(GatewayError.rateLimited('slow'))
    expect(types(text)).toEqual(['created', 'in_progress', 'failed'])
    expect(last(text).response.error.code).toBe('rate_limit_exceeded')
  })

  it('a turn that starts with a call has no empty message, and empty reasoning is no item', () => {
    const text = encodeEvents(eventsOf([{ t: 'reasoning', text: '' }, call('a', 'f')]))
    expect(last(text).response.output.map((item: Wire) => item.type)).toEqual(['function_call'])
  })

  it('partial arguments are forwarded as they are', () => {
    expect(last(encodeEvents(eventsOf([call('a', 'f', '{"a":')], 'length'))).response).toMatchObject({
      status: 'incomplete',
      output: [{ arguments: '{"a":' }],
    })
  })
})
