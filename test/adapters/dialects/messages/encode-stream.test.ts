import Anthropic from '@anthropic-ai/sdk'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { messagesDialect } from '../../../../adapters/dialects/messages/index.ts'
import { GatewayError } from '../../../../core/errors/gateway-error.ts'
import { unwrapSignature } from '../../../../core/models/signature.ts'
import { PartWriter } from '../../../../core/stream/part-writer.ts'
import type { Finish } from '../../../../core/types/request/answer.ts'
import type { Part, Signature } from '../../../../core/types/request/canonical.ts'
import type { Emit, StreamEvent } from '../../../../core/types/request/stream.ts'
import { eventsOf, framesOf, testHop } from './fixtures.ts'

const start: StreamEvent = { e: 'start', id: 'chatcmpl-1', model: 'gpt-x', created: 1 }
const usage: StreamEvent = {
  e: 'usage',
  usage: { inputTotal: 20, cacheRead: 8, cacheWrite: 0, outputTotal: 7, reasoning: 2, total: 27 },
}
const finish = (value: Finish): StreamEvent => ({ e: 'finish', choice: 0, finish: value, native: '' })
const end: StreamEvent = { e: 'end' }
const google: Signature = { dialect: 'generate_content', modelFamily: 'gemini', value: 'AAA=' }

const codec = () => testHop({ caller: 'messages', upstream: 'chat', stream: true })
const encode = (events: StreamEvent[]) => {
  const encoder = messagesDialect.encodeStream(codec())
  return events.map((event) => encoder.event(event)).join('')
}
const wire = (text: string) => framesOf(text).map((frame) => JSON.parse(frame.data) as Record<string, never>)
const write = (fill: (writer: PartWriter, emit: Emit) => void): StreamEvent[] => {
  const out: StreamEvent[] = []
  const writer = new PartWriter()
  fill(writer, (event) => out.push(event))
  writer.closeAll(0, (event) => out.push(event))
  return out
}
const sdk = (text: string) => {
  const fetch = async () => new Response(text, { headers: { 'content-type': 'text/event-stream' } })
  const client = new Anthropic({ apiKey: 'x', fetch, maxRetries: 0 })
  return client.messages.stream({ model: 'm', max_tokens: 5, messages: [{ role: 'user', content: 'x' }] }).finalMessage()
}

const rich = () => [
  start,
  ...write((writer, emit) => {
    writer.reasoning(0, 'let me ', emit)
    writer.reasoning(0, 'see', emit)
    writer.signature(0, { dialect: 'responses', modelFamily: 'gpt', value: 'enc' }, emit)
    writer.text(0, 'He', emit)
    writer.text(0, 'llo', emit)
    writer.toolStart(0, 'a', { id: 'call_a', name: 'f' }, emit)
    writer.toolArgs(0, 'a', '{"x":', emit)
    writer.toolStart(0, 'b', { id: 'call_b', name: 'g' }, emit)
    writer.toolArgs(0, 'b', '{"y"', emit)
    writer.toolArgs(0, 'a', '1}', emit)
    writer.toolArgs(0, 'b', ':2}', emit)
  }),
  usage,
  finish('tool_calls'),
  end,
]

it('Anthropic’s SDK reads the stream to the same message', async () => {
  const message = await sdk(encode(rich()))
  expect(message).toMatchObject({
    id: 'msg_test1',
    model: 'gpt-x',
    content: [
      { type: 'thinking', thinking: 'let me see' },
      { type: 'text', text: 'Hello' },
      { type: 'tool_use', id: 'call_a', name: 'f', input: { x: 1 }, caller: { type: 'direct' } },
      { type: 'tool_use', id: 'call_b', name: 'g', input: { y: 2 } },
    ],
    stop_reason: 'tool_use',
    stop_sequence: null,
    stop_details: null,
    container: null,
    diagnostics: null,
    usage: { input_tokens: 12, output_tokens: 7, cache_read_input_tokens: 8, output_tokens_details: { thinking_tokens: 2 } },
  })
})

it('blocks are sequential and contiguous, one signature_delta right before the stop', () => {
  const text = encode(rich())
  const events = wire(text)
  let open: number | null = null
  let next = 0
  for (const { type, index } of events as unknown as { type: string; index: number }[]) {
    if (type === 'content_block_start') {
      expect(open).toBeNull()
      expect(index).toBe(next++)
      open = index
    } else if (type.startsWith('content_block')) {
      expect(index).toBe(open)
      if (type === 'content_block_stop') open = null
    }
  }
  const signatures = events.flatMap(({ delta }, at) =>
    (delta as { type?: string } | undefined)?.type === 'signature_delta' ? [at] : [],
  )
  expect(signatures).toHaveLength(1)
  expect(events[(signatures[0] as number) + 1]).toEqual({ type: 'content_block_stop', index: 0 })
  expect(framesOf(text).every((frame) => frame.event === (JSON.parse(frame.data) as { type: string }).type)).toBe(true)
})

it('a turn that starts with a call has it at index 0, in one block', () => {
  const deltas = write((writer, emit) => {
    writer.toolStart(0, 0, { id: 'c', name: 'f' }, emit)
    for (let i = 0; i < 50; i++) writer.toolArgs(0, 0, i === 0 ? '[' : i === 49 ? '1]' : '1,', emit)
  })
  const starts = wire(encode([start, ...deltas, finish('tool_calls'), end])).filter(({ type }) => type === 'content_block_start')
  expect(starts).toEqual([
    {
      type: 'content_block_start',
      index: 0,
      content_block: { type: 'tool_use', id: 'c', name: 'f', caller: { type: 'direct' }, input: {} },
    },
  ])
})

it('a complete call is a start with {} and one delta with all arguments', () => {
  const full: Part = { t: 'tool_call', id: 'c', idMinted: false, name: 'f', args: '{"a":1}', kind: 'function' }
  const events = wire(
    encode([
      start,
      { e: 'part_start', choice: 0, part: 0, kind: 'tool_call', meta: { id: 'c', name: 'f' } },
      { e: 'part_stop', choice: 0, part: 0, full },
      end,
    ]),
  )
  expect(events.slice(1, 4)).toMatchObject([
    { content_block: { input: {} } },
    { delta: { type: 'input_json_delta', partial_json: '{"a":1}' } },
    { type: 'content_block_stop' },
  ])
  expect(events.at(-2)).toMatchObject({ delta: { stop_reason: 'tool_use' } })
})

it('a streamed refusal is text with stop_details', async () => {
  const message = await sdk(
    encode([
      start,
      ...write((writer, emit) => {
        for (const text of ['I ', "can't"]) writer.refusal(0, text, emit)
      }),
      finish('refusal'),
      end,
    ]),
  )
  expect(message).toMatchObject({
    content: [{ type: 'text', text: "I can't" }],
    stop_reason: 'refusal',
    stop_details: { type: 'refusal', category: null, explanation: "I can't" },
  })
})

it('content_filter without content is a refusal', async () => {
  expect(await sdk(encode([start, finish('content_filter'), end]))).toMatchObject({
    content: [],
    stop_reason: 'refusal',
    stop_details: { explanation: null },
  })
})

it('an end without anything else is still a whole message', async () => {
  expect(await sdk(encode([end]))).toMatchObject({
    id: 'msg_test1',
    model: 'claude-sonnet-4-5',
    content: [],
    stop_reason: 'end_turn',
    usage: { input_tokens: 0, output_tokens: 0 },
  })
})

it('content before the start event synthesises one', () => {
  const deltas = write((writer, emit) => writer.text(0, 'x', emit))
  expect(wire(encode([...deltas, start, finish('stop'), end])).map(({ type }) => type)).toEqual([
    'message_start',
    'content_block_start',
    'content_block_delta',
    'content_block_stop',
    'message_delta',
    'message_stop',
  ])
})

it('1.3: a foreign secret of a call precedes it in an empty thinking block', async () => {
  const deltas = write((writer, emit) => writer.toolStart(0, 0, { id: 'c', name: 'f', signature: google }, emit))
  const { content } = await sdk(encode([start, ...deltas, finish('tool_calls'), end]))
  expect(content).toMatchObject([
    { type: 'thinking', thinking: '' },
    { type: 'tool_use', id: 'c' },
  ])
  expect(unwrapSignature((content[0] as { signature: string }).signature)).toEqual(google)
})

it('what this dialect cannot show leaves no gap', () => {
  const deltas = write((writer, emit) => {
    writer.whole(0, 'server_tool', { t: 'server_tool', dialect: 'responses', kind: 'mcp_call', raw: {} }, emit)
    writer.whole(0, 'image', { t: 'image', src: { kind: 'base64', data: 'A', mime: 'image/png' } }, emit)
    writer.text(0, 'x', emit)
  })
  const starts = wire(encode([start, ...deltas, finish('stop'), end])).filter(({ type }) => type === 'content_block_start')
  expect(starts).toEqual([{ type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } }])
})

it('an error is the last frame, and the SDK throws it', async () => {
  const encoder = messagesDialect.encodeStream(codec())
  const text = encoder.event(start) + encoder.error(GatewayError.protocol('It "broke".'))
  expect(text.endsWith('event: error\ndata: {"type":"error","error":{"type":"api_error","message":"It \\"broke\\"."}}\n\n')).toBe(
    true,
  )
  expect(encoder.event(end)).toBe('')
  await expect(sdk(text)).rejects.toThrow(/It \\"broke\\"/)
})

it('encoded and decoded again, any parts are the same parts', async () => {
  const string = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 12 })
  const own: Signature = { dialect: 'messages', modelFamily: 'claude', value: 'sig' }
  const step = fc.oneof(
    fc.record({ kind: fc.constant('text' as const), value: string }),
    fc.record({ kind: fc.constant('reasoning' as const), value: string }),
    fc.record({ kind: fc.constant('call' as const), value: fc.dictionary(string, string).map((input) => JSON.stringify(input)) }),
    fc.record({ kind: fc.constant('args' as const), value: string }),
    fc.record({ kind: fc.constant('redacted' as const), value: string }),
  )
  fc.assert(
    fc.property(fc.array(step, { maxLength: 12 }), (steps) => {
      const events = write((writer, emit) => {
        let calls = 0
        for (const { kind, value } of steps) {
          if (kind === 'text') writer.text(0, value, emit)
          else if (kind === 'reasoning') {
            writer.reasoning(0, value, emit)
            writer.signature(0, own, emit)
          } else if (kind === 'call') writer.toolStart(0, calls++, { id: `toolu_${calls}`, name: 'f' }, emit)
          else if (kind === 'args' && calls > 0) writer.toolArgs(0, value.length % calls, value, emit)
          else if (kind === 'redacted')
            writer.whole(0, 'redacted', { t: 'reasoning', text: '', redacted: value, encrypted: { ...own, value } }, emit)
        }
      })
      const fulls = (list: StreamEvent[]) =>
        list
          .flatMap((event) => (event.e === 'part_stop' ? [{ part: event.part, full: event.full }] : []))
          .sort((a, b) => a.part - b.part)
      const again = eventsOf(messagesDialect.decodeStream(testHop()), encode([start, ...events, finish('stop'), end]))
      expect(fulls(again).map(({ full }) => full)).toEqual(fulls(events).map(({ full }) => full))
    }),
  )
})
