import { expect, it } from 'vitest'
import { messagesDialect } from '../../../../adapters/dialects/messages/index.ts'
import { messagesReplies } from '../../../../adapters/testing/replies/messages.ts'
import { wireBody } from '../../../../core/json/wire-body.ts'
import { unwrapSignature } from '../../../../core/models/signature.ts'
import type { CanonicalResponse, Choice, Usage } from '../../../../core/types/request/answer.ts'
import type { Part } from '../../../../core/types/request/canonical.ts'
import type { CodecContext } from '../../../../core/types/request/dialect.ts'
import { deepFreeze, testHop } from './fixtures.ts'

const usage: Usage = {
  inputTotal: 20,
  cacheRead: 8,
  cacheWrite: 2,
  outputTotal: 7,
  reasoning: 3,
  total: 27,
  estimated: false,
  raw: null,
}
const read = (body: unknown, codec: CodecContext = testHop()) =>
  messagesDialect.decodeResponse(wireBody(typeof body === 'string' ? body : JSON.stringify(body)), codec)

function write(
  parts: Part[],
  choice: Partial<Choice> = {},
  more: Partial<CanonicalResponse> = {},
  codec: CodecContext = testHop({ caller: 'messages', upstream: 'chat' }),
) {
  const response: CanonicalResponse = {
    id: 'chatcmpl-1',
    created: 1,
    model: 'gpt-x',
    choices: [{ index: 0, parts, finish: 'stop', nativeFinish: 'stop', ...choice }],
    usage,
    ext: {},
    ...more,
  }
  return JSON.parse(messagesDialect.encodeResponse(deepFreeze(response), codec)) as Record<string, unknown>
}

const call: Part = { t: 'tool_call', id: 'call_1', idMinted: false, name: 'f', args: '{"a":1}', kind: 'function' }

it('decodes a whole answer of the vendor', () => {
  const response = read(
    messagesReplies.json({
      reasoning: { text: 'hm', signature: 'sig' },
      text: 'Hello',
      toolCalls: [{ id: 'toolu_1', name: 'f', args: '{"a":1}' }],
      usage: { input: 20, cacheRead: 8, cacheWrite: 2, output: 7, reasoning: 3 },
    }),
  )
  expect(response).toMatchObject({
    id: 'msg_01XFDUDYJgAACzvnptvVoYEL',
    model: 'claude-sonnet-4-5-20250929',
    created: 1_750_000_000,
    serviceTier: 'standard',
  })
  expect(response.choices).toEqual([
    {
      index: 0,
      finish: 'tool_calls',
      nativeFinish: 'tool_use',
      parts: [
        { t: 'reasoning', text: 'hm', signature: { dialect: 'messages', modelFamily: 'claude', value: 'sig' } },
        { t: 'text', text: 'Hello' },
        { t: 'tool_call', id: 'toolu_1', idMinted: false, name: 'f', args: '{"a":1}', kind: 'function' },
      ],
    },
  ])
  expect(response.usage).toMatchObject({
    inputTotal: 20,
    cacheRead: 8,
    cacheWrite: 2,
    cacheWrite5m: 2,
    outputTotal: 7,
    reasoning: 3,
    total: 27,
  })
})

it('a big number in a call keeps its digits', () => {
  const { choices } = read(
    '{"content":[{"type":"tool_use","id":"a","name":"f","input":{"id":12345678901234567890}}],"stop_reason":"tool_use"}',
  )
  expect(choices[0]?.parts[0]).toMatchObject({ args: '{"id":12345678901234567890}' })
})

it('a refusal keeps its details beside the answer', () => {
  const details = { type: 'refusal', category: 'bio', explanation: 'x' }
  const { choices } = read({ content: [], stop_reason: 'refusal', stop_details: details })
  expect(choices[0]).toMatchObject({ finish: 'refusal', safety: details, parts: [] })
})

it('missing usage is zero and estimated; an explicit zero is not', () => {
  expect(read({ content: [] }).usage).toMatchObject({ inputTotal: 0, estimated: true })
  expect(read({ content: [], usage: { input_tokens: 0, output_tokens: 0 } }).usage).toMatchObject({
    inputTotal: 0,
    estimated: false,
  })
})

it('an error under 200 keeps its inner status; anything else is a protocol error', () => {
  const overloaded = messagesReplies.error(529, 'Overloaded')
  expect(() => read(overloaded)).toThrow(
    expect.objectContaining({ status: 529, message: 'Overloaded', type: 'overloaded_error' }),
  )
  expect(() => read({ foo: 1 })).toThrow(
    expect.objectContaining({ status: 502, upstream: expect.objectContaining({ kind: 'protocol' }) }),
  )
  const facts = messagesDialect.inspectResponse(wireBody(JSON.stringify(overloaded)), testHop())
  expect(facts.error).toMatchObject({ status: 529 })
})

it('the byte lane reads usage and finish without decoding', () => {
  const body = wireBody(JSON.stringify(messagesReplies.json({ text: 'x', finish: 'length' })))
  expect(messagesDialect.inspectResponse(body, testHop())).toMatchObject({
    finish: 'length',
    content: true,
    error: null,
    usage: { inputTotal: 12, outputTotal: 7 },
  })
  expect(body.edited).toBe(false)
})

it('synthesises a message with every required key and none that breaks clients', () => {
  expect(
    write([{ t: 'reasoning', text: 'hm' }, { t: 'text', text: 'Hi' }, { t: 'text', text: '' }, call], { finish: 'tool_calls' }),
  ).toEqual({
    id: 'msg_test1',
    type: 'message',
    role: 'assistant',
    model: 'gpt-x',
    content: [
      { type: 'thinking', thinking: 'hm', signature: 'gw1.chat..' },
      { type: 'text', text: 'Hi' },
      { type: 'tool_use', id: 'call_1', name: 'f', caller: { type: 'direct' }, input: { a: 1 } },
    ],
    stop_reason: 'tool_use',
    stop_sequence: null,
    stop_details: null,
    container: null,
    diagnostics: null,
    usage: {
      input_tokens: 10,
      output_tokens: 7,
      cache_creation_input_tokens: 2,
      cache_read_input_tokens: 8,
      output_tokens_details: { thinking_tokens: 3 },
      server_tool_use: null,
      cache_creation: null,
      service_tier: null,
      inference_geo: null,
      speed: null,
    },
  })
})

it('a refusal is one text block with stop_details', () => {
  expect(write([{ t: 'refusal', text: "I can't" }], { finish: 'refusal' })).toMatchObject({
    content: [{ type: 'text', text: "I can't" }],
    stop_reason: 'refusal',
    stop_details: { type: 'refusal', category: null, explanation: "I can't" },
  })
})

it('content_filter is a refusal with details and no empty block', () => {
  expect(write([], { finish: 'content_filter' })).toMatchObject({
    content: [],
    stop_reason: 'refusal',
    stop_details: { type: 'refusal', category: null, explanation: null },
  })
})

it.each([
  [{ finish: 'stop_sequence', stopSequence: 'END' }, 'stop_sequence', 'END'],
  [{ finish: 'stop_sequence' }, 'end_turn', null],
  [{ finish: 'length' }, 'max_tokens', null],
  [{ finish: 'context_window' }, 'model_context_window_exceeded', null],
  [{ finish: 'pause' }, 'pause_turn', null],
  [{ finish: 'malformed_tool_call' }, 'end_turn', null],
  [{ finish: 'tool_calls' }, 'end_turn', null],
] as const)('2.5: finish %o is %s', (choice, reason, sequence) => {
  expect(write([{ t: 'text', text: 'x' }], choice)).toMatchObject({ stop_reason: reason, stop_sequence: sequence })
})

it('calls under `stop` are tool_use', () => {
  expect(write([call], { finish: 'stop' })).toMatchObject({ stop_reason: 'tool_use' })
})

it('the uncached input is never negative', () => {
  expect(write([], {}, { usage: { ...usage, inputTotal: 5 } }).usage).toMatchObject({
    input_tokens: 0,
    cache_read_input_tokens: 8,
  })
})

it('1.3: foreign secrets travel in the envelope, calls’ secrets in a thinking block before the call', () => {
  const sealed = { dialect: 'responses', modelFamily: 'gpt', value: 'enc' } as const
  const google = { dialect: 'generate_content', modelFamily: 'gemini', value: 'AAA=' } as const
  const { content } = write(
    [{ t: 'reasoning', text: '', summary: ['a', 'b'], encrypted: sealed }, { ...call, signature: google } as Part],
    { finish: 'tool_calls' },
  )
  const [thinking, carrier, use] = content as { type: string; thinking: string; signature: string }[]
  expect(thinking).toMatchObject({ type: 'thinking', thinking: 'a\n\nb' })
  expect(unwrapSignature(thinking?.signature ?? '')).toEqual(sealed)
  expect(carrier).toMatchObject({ type: 'thinking', thinking: '' })
  expect(unwrapSignature(carrier?.signature ?? '')).toEqual(google)
  expect(use?.type).toBe('tool_use')
})

it('the own dialect decoded and encoded again is the same answer', () => {
  const codec = testHop({ caller: 'messages' })
  const citation = {
    type: 'char_location',
    cited_text: 'c',
    document_index: 0,
    document_title: null,
    start_char_index: 0,
    end_char_index: 1,
    file_id: null,
  }
  const wire = {
    ...(messagesReplies.json({ text: 'x' }) as object),
    content: [
      { type: 'thinking', thinking: 't', signature: 's' },
      { type: 'redacted_thinking', data: 'd' },
      { type: 'server_tool_use', id: 'srv', name: 'web_search', input: { query: 'q' } },
      { type: 'web_search_tool_result', tool_use_id: 'srv', content: [] },
      { type: 'text', text: 'x', citations: [citation] },
    ],
    container: { id: 'c', expires_at: 'z' },
    context_management: { applied_edits: [] },
  }
  expect(JSON.parse(messagesDialect.encodeResponse(deepFreeze(read(wire, codec)), codec))).toEqual(wire)
})

it('a token count goes through in both directions', () => {
  const codec = testHop({ operation: 'count_tokens', caller: 'messages' })
  const response = read({ input_tokens: 31 }, codec)
  expect(response.usage.inputTotal).toBe(31)
  expect(messagesDialect.encodeResponse(deepFreeze(response), codec)).toBe('{"input_tokens":31}')
  expect(messagesDialect.inspectResponse(wireBody('{"input_tokens":31}'), codec)).toEqual({
    usage: null,
    finish: null,
    content: true,
    error: null,
  })
})
