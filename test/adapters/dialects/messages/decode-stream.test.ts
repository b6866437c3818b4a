import fc from 'fast-check'
import { expect, it } from 'vitest'
import { messagesDialect } from '../../../../adapters/dialects/messages/index.ts'
import { messagesReplies } from '../../../../adapters/testing/replies/messages.ts'
import { createSseSplitter } from '../../../../core/stream/sse.ts'
import type { StreamEvent } from '../../../../core/types/request/stream.ts'
import { eventsOf, sse, testHop } from './fixtures.ts'

const decode = (text: string) => eventsOf(messagesDialect.decodeStream(testHop()), text)
const start = { type: 'message_start', message: { id: 'msg_1', model: 'm', usage: { input_tokens: 5, output_tokens: 1 } } }
const stop = { type: 'message_delta', delta: { stop_reason: 'end_turn', stop_sequence: null }, usage: { output_tokens: 9 } }
const end = { type: 'message_stop' }
const block = (index: number, content: object, ...deltas: object[]) => [
  { type: 'content_block_start', index, content_block: content },
  ...deltas.map((delta) => ({ type: 'content_block_delta', index, delta })),
  { type: 'content_block_stop', index },
]
const text = (index: number, value: string) => block(index, { type: 'text', text: '' }, { type: 'text_delta', text: value })
const parts = (events: StreamEvent[]) => events.flatMap((event) => (event.e === 'part_stop' ? [event.full] : []))

it('decodes a vendor’s stream: start, parts, usage, finish, end', () => {
  const events = decode(
    messagesReplies
      .frames({
        reasoning: { text: 'thinking', signature: 's' },
        text: 'Hello',
        toolCalls: [{ id: 'toolu_1', name: 'f', args: '{"a":1}' }],
      })
      .join(''),
  )
  expect(events[0]).toMatchObject({
    e: 'start',
    id: 'msg_01XFDUDYJgAACzvnptvVoYEL',
    created: 1_750_000_000,
    usage: { inputTotal: 12 },
  })
  expect(parts(events)).toEqual([
    { t: 'reasoning', text: 'thinking', signature: { dialect: 'messages', modelFamily: 'claude', value: 's' } },
    { t: 'text', text: 'Hello' },
    { t: 'tool_call', id: 'toolu_1', idMinted: false, name: 'f', args: '{"a":1}', kind: 'function' },
  ])
  expect(events.slice(-3)).toMatchObject([
    { e: 'usage', usage: { inputTotal: 12, outputTotal: 7 } },
    { e: 'finish', finish: 'tool_calls', native: 'tool_use' },
    { e: 'end' },
  ])
})

it('any split of the bytes gives the same events', () => {
  const bytes = new TextEncoder().encode(
    `\uFEFF: hi\r\n\r\n${messagesReplies
      .frames({ text: 'Grüße 👋🏽', toolCalls: [{ id: 't', name: 'f', args: '{"é":1}' }] })
      .join('')
      .replaceAll('\n', '\r\n')}`,
  )
  const whole = decode(new TextDecoder().decode(bytes))
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 1, max: bytes.length - 1 }), { maxLength: 30 }), (cuts) => {
      const decoder = messagesDialect.decodeStream(testHop())
      const splitter = createSseSplitter()
      const out: StreamEvent[] = []
      const edges = [0, ...cuts.toSorted((a, b) => a - b), bytes.length]
      for (let i = 1; i < edges.length; i++) {
        if (edges[i] === edges[i - 1]) continue
        splitter.push(bytes.slice(edges[i - 1], edges[i]), (frame) => decoder.frame(frame, (event) => out.push(event)))
      }
      splitter.end((frame) => decoder.frame(frame, (event) => out.push(event)))
      decoder.end((event) => out.push(event))
      expect(out).toEqual(whole)
    }),
  )
})

it('a second message_start and content after stop_reason are ignored', () => {
  const events = decode(
    sse(start, ...text(0, 'a'), { ...start, message: { id: 'msg_2' } }, ...text(1, 'b'), stop, ...text(2, 'late'), end),
  )
  expect(events.filter(({ e }) => e === 'start')).toHaveLength(1)
  expect(parts(events)).toEqual([
    { t: 'text', text: 'a' },
    { t: 'text', text: 'b' },
  ])
  expect(events.filter(({ e }) => e === 'finish')).toHaveLength(1)
})

it('an end before stop_reason is an error, after it a normal end', () => {
  expect(decode(sse(start, ...text(0, 'a'))).at(-1)).toEqual({
    e: 'error',
    status: 502,
    code: 'upstream_error',
    message: 'The upstream closed the stream before it was complete.',
    retryable: true,
  })
  expect(decode(sse(start, ...text(0, 'a'), stop)).at(-1)).toEqual({ e: 'end' })
})

it('broken JSON is one error, and nothing after it', () => {
  const events = decode(`${sse(start)}event: content_block_delta\ndata: {bad\n\n${sse(...text(0, 'x'), stop, end)}`)
  expect(events).toHaveLength(2)
  expect(events[1]).toMatchObject({ e: 'error', status: 502, retryable: true })
})

it('an error event keeps its inner status', () => {
  expect(decode(sse(start) + messagesReplies.errorFrames('Overloaded').join('')).at(-1)).toMatchObject({
    e: 'error',
    status: 529,
    message: 'Overloaded',
    retryable: true,
  })
  expect(decode(messagesReplies.errorFrames('No', 400).join('')).at(-1)).toMatchObject({ status: 400, retryable: false })
})

it('frames without event names, late inputs and whole inputs are understood', () => {
  const events = decode(
    [start, ...block(0, { type: 'tool_use', id: '', name: 'f', input: { a: 1 } }), stop, end]
      .map((event) => `data: ${JSON.stringify(event)}\n\n`)
      .join(''),
  )
  expect(parts(events)).toMatchObject([{ t: 'tool_call', idMinted: true, args: '{"a":1}' }])
  expect(events).toContainEqual({ e: 'finish', choice: 0, finish: 'tool_calls', native: 'end_turn' })
})

it('server tools, redacted thinking and compaction come whole', () => {
  const events = decode(
    sse(
      start,
      ...block(
        0,
        { type: 'server_tool_use', id: 's', name: 'web_search', input: {} },
        { type: 'input_json_delta', partial_json: '{"query":"q"}' },
      ),
      ...block(1, { type: 'web_search_tool_result', tool_use_id: 's', content: [] }),
      ...block(2, { type: 'redacted_thinking', data: 'x' }),
      ...block(3, { type: 'compaction', content: null }, { type: 'compaction_delta', content: 'sum' }),
      stop,
      end,
    ),
  )
  expect(parts(events)).toEqual([
    {
      t: 'server_tool',
      dialect: 'messages',
      kind: 'server_tool_use',
      raw: { type: 'server_tool_use', id: 's', name: 'web_search', input: { query: 'q' } },
    },
    {
      t: 'server_tool',
      dialect: 'messages',
      kind: 'web_search_tool_result',
      raw: { type: 'web_search_tool_result', tool_use_id: 's', content: [] },
    },
    { t: 'reasoning', text: '', redacted: 'x', encrypted: { dialect: 'messages', modelFamily: 'claude', value: 'x' } },
    { t: 'opaque', dialect: 'messages', raw: { type: 'compaction', content: 'sum' } },
  ])
  expect(events).toContainEqual({ e: 'finish', choice: 0, finish: 'stop', native: 'end_turn' })
})

it('citations before or after the text end up on it', () => {
  const citation = { type: 'web_search_result_location', url: 'https://x', title: 'X', cited_text: 'c', encrypted_index: 'i' }
  const cite = { type: 'citations_delta', citation }
  const events = decode(
    sse(start, ...block(0, { type: 'text', text: '' }, cite, { type: 'text_delta', text: 'a' }, cite), stop, end),
  )
  expect(parts(events)).toMatchObject([
    { text: 'a', annotations: [{ kind: 'url', url: 'https://x', title: 'X' }, { kind: 'url' }] },
  ])
})

it('hidden thinking is a signed part without text', () => {
  const events = decode(
    sse(
      start,
      ...block(0, { type: 'thinking', thinking: '', signature: '' }, { type: 'signature_delta', signature: 'x' }),
      ...text(1, 'a'),
      stop,
      end,
    ),
  )
  expect(parts(events)).toMatchObject([
    { t: 'reasoning', text: '', signature: { value: 'x' } },
    { t: 'text', text: 'a' },
  ])
})

it('a lone message_stop is an answer without content', () => {
  expect(decode(sse(end)).map(({ e }) => e)).toEqual(['start', 'finish', 'end'])
})
