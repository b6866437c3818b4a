import { expect, it } from 'vitest'
import { messagesDialect } from '../../../../adapters/dialects/messages/index.ts'
import { headerBag } from '../../../../core/http/headers.ts'
import { wireBody } from '../../../../core/json/wire-body.ts'
import type { CacheMark, CanonicalRequest, Part } from '../../../../core/types/request/canonical.ts'
import { encode, request, testHop, tool, user } from './fixtures.ts'

const on = (model: string) => testHop({ model })
const unknown = () => testHop({ model: 'kimi-k3', caps: { family: 'moonshot' } })

it('max_tokens is always an integer', () => {
  expect(encode({}).max_tokens).toBe(32_000)
  expect(encode({}, on('claude-3-haiku-20240307')).max_tokens).toBe(4096)
  expect(encode({}, unknown()).max_tokens).toBe(8192)
  expect(encode({ maxTokens: 7 }).max_tokens).toBe(7)
})

it('temperature is clamped, or dropped if the model does not accept it', () => {
  const clamped = testHop()
  expect(encode({ sampling: { temperature: 1.7 } }, clamped).temperature).toBe(1)
  expect(clamped.warnings).toEqual(['temperature_clamped'])
  for (const model of ['claude-opus-4-8', 'claude-sonnet-5', 'claude-next']) {
    const codec = on(model)
    expect(encode({ sampling: { temperature: 1.7, topP: 0.5, topK: 3 } }, codec)).not.toHaveProperty('temperature')
    expect(codec.warnings).toEqual(['dropped_temperature', 'dropped_top_p', 'dropped_top_k'])
    const plain = on(model)
    encode({ sampling: { temperature: 1 } }, plain)
    expect(plain.warnings).toEqual([])
  }
})

it('temperature overrides top_p', () => {
  const body = encode({ sampling: { temperature: 0.5, topP: 0.9, topK: 4 } })
  expect(body).toMatchObject({ temperature: 0.5, top_k: 4 })
  expect(body).not.toHaveProperty('top_p')
  expect(encode({ sampling: { topP: 0.9 } }).top_p).toBe(0.9)
})

it('a translated request has version 2023-06-01, a spliced one the caller’s version and betas', () => {
  const encoded = messagesDialect.encodeRequest(request(), testHop())
  expect(encoded).toMatchObject({ path: '/v1/messages', headers: ['anthropic-version', '2023-06-01'] })
  const body = wireBody('{"model":"anthropic/x","max_tokens":1,"seed":9223372036854775807}')
  const caller = headerBag(['anthropic-version', '2026-10-21', 'anthropic-beta', 'a,b'])
  expect(messagesDialect.spliceRequest(body, testHop({ model: 'x' }), caller)).toEqual({
    path: '/v1/messages',
    headers: ['anthropic-version', '2026-10-21', 'anthropic-beta', 'a,b'],
  })
  // The seed keeps all its digits.
  expect(new TextDecoder().decode(body.bytes)).toBe('{"model":"x","max_tokens":1,"seed":9223372036854775807}')
})

it('a splice defaults a missing max_tokens, except where tokens are only counted', () => {
  const body = wireBody('{"model":"x","max_tokens":null}')
  expect(messagesDialect.spliceRequest(body, testHop({ model: 'x', caps: { family: 'x' } }), headerBag()).headers).toEqual([
    'anthropic-version',
    '2023-06-01',
  ])
  expect(body.get('max_tokens')).toBe(8192)
  const count = wireBody('{"model":"x"}')
  expect(messagesDialect.spliceRequest(count, testHop({ model: 'x', operation: 'count_tokens' }), headerBag()).path).toBe(
    '/v1/messages/count_tokens',
  )
  expect(count.get('max_tokens')).toBeUndefined()
})

it('n > 1 is refused; n = 1 is fine; logprobs are dropped with a warning', () => {
  expect(() => encode({ sampling: { n: 2 } })).toThrow(
    expect.objectContaining({ status: 400, param: 'n', code: 'unsupported_for_target' }),
  )
  const codec = testHop()
  encode({ sampling: { n: 1 }, logprobs: { enabled: true } }, codec)
  expect(codec.warnings).toEqual(['dropped_logprobs'])
})

it('whitespace-only stop sequences are removed', () => {
  expect(encode({ stop: ['END', '\n'] }).stop_sequences).toEqual(['END'])
  expect(encode({ stop: ['\n'] })).not.toHaveProperty('stop_sequences')
})

it('foreign state is refused, store is ignored', () => {
  const state = (value: CanonicalRequest['state']) => () => encode({ source: 'responses', state: value })
  expect(state({ previousResponseId: 'resp_1' })).toThrow(expect.objectContaining({ param: 'previous_response_id' }))
  expect(state({ background: true })).toThrow(expect.objectContaining({ param: 'background' }))
  expect(state({ conversation: 'c' })).toThrow(expect.objectContaining({ param: 'conversation' }))
  expect(state({ store: true })).not.toThrow()
})

it('tiers and metadata of other vendors are not sent', () => {
  const codec = testHop()
  const body = encode({ serviceTier: 'priority', metadata: { a: 'b' } }, codec)
  expect(body).not.toHaveProperty('service_tier')
  expect(body).not.toHaveProperty('metadata')
  expect(codec.warnings).toEqual(['dropped_service_tier'])
  expect(encode({ serviceTier: 'default' }).service_tier).toBe('standard_only')
})

it('an address, a phone number or a long id is hashed', () => {
  const idOf = (endUser: string, source: 'chat' | 'messages' = 'chat') =>
    (encode({ endUser, source }).metadata as { user_id: string }).user_id
  expect(idOf('user-17')).toBe('user-17')
  for (const personal of ['a@b.de', '+49 170 1234567', 'x'.repeat(257)]) expect(idOf(personal)).toMatch(/^[0-9a-f]{64}$/)
  expect(idOf('a@b.de', 'messages')).toBe('a@b.de')
})

it('seed, penalties and biases are dropped with a warning', () => {
  const codec = testHop()
  encode(
    { sampling: { seed: 1, frequencyPenalty: 1, presencePenalty: 1, logitBias: { 1: 2 } }, ext: { chat: { prediction: {} } } },
    codec,
  )
  expect(codec.warnings).toEqual([
    'dropped_seed',
    'dropped_frequency_penalty',
    'dropped_presence_penalty',
    'dropped_logit_bias',
    'dropped_prediction',
  ])
})

it('at most four cache marks are sent: tools, system, then the last messages; no long one after a short one', () => {
  const text = (value: string, cache: CacheMark): Part => ({ t: 'text', text: value, cache })
  const body = encode({
    source: 'messages',
    system: [{ role: 'system', parts: [text('s1', {}), text('s2', { ttl: '5m' })] }],
    tools: [{ t: 'function', name: 'f', cache: { ttl: '1h' } }],
    messages: [user(text('a', {})), user(text('b', { ttl: '1h' })), user(text('c', {}))],
  })
  const marks = (blocks: unknown) => (blocks as { cache_control?: object }[]).map(({ cache_control }) => cache_control)
  expect(marks(body.tools)).toEqual([{ type: 'ephemeral', ttl: '1h' }])
  expect(marks(body.system)).toEqual([undefined, { type: 'ephemeral', ttl: '5m' }])
  expect(marks((body.messages as { content: unknown }[])[0]?.content)).toEqual([
    undefined,
    { type: 'ephemeral' },
    { type: 'ephemeral' },
  ])
})

it('citations are not requested together with structured output', () => {
  const codec = testHop()
  const messages = [user({ t: 'document', src: { text: 'x' }, citations: true })]
  const body = encode({ messages, output: { kind: 'json_schema', schema: { type: 'object' } } }, codec)
  expect((body.messages as { content: object[] }[])[0]?.content[0]).not.toHaveProperty('citations')
  expect(codec.warnings).toEqual(['dropped_citations'])
})

it('the own dialect re-encoded keeps fields, blocks and state it does not understand', () => {
  const raw = { type: 'container_upload', file_id: 'f' }
  const encoded = messagesDialect.encodeRequest(
    request({
      source: 'messages',
      maxTokens: 0,
      messages: [user({ t: 'opaque', dialect: 'messages', raw }, { t: 'image', src: { kind: 'file', id: 'file_1' } })],
      ext: { messages: { mcp_servers: [{ name: 'x' }], output_config: { task_budget: 1 } }, chat: { foo: 1 } },
      state: { contextManagement: { edits: [] }, thread: { id: 't' } },
      cache: { auto: { ttl: '1h' } },
      speed: 'fast',
      headers: { anthropicBeta: ['mcp-client-2025-11-20'] },
    }),
    testHop({ caller: 'messages' }),
  )
  expect(encoded.headers).toEqual([
    'anthropic-version',
    '2023-06-01',
    'anthropic-beta',
    'mcp-client-2025-11-20,files-api-2025-04-14',
  ])
  expect(encoded.body.json()).toEqual({
    mcp_servers: [{ name: 'x' }],
    model: 'claude-sonnet-4-5',
    max_tokens: 0,
    cache_control: { type: 'ephemeral', ttl: '1h' },
    messages: [{ role: 'user', content: [raw, { type: 'image', source: { type: 'file', file_id: 'file_1' } }] }],
    output_config: { task_budget: 1 },
    speed: 'fast',
    context_management: { edits: [] },
    thread: { id: 't' },
  })
})

it('big numbers in arguments reach the wire digit by digit', () => {
  const call: Part = {
    t: 'tool_call',
    id: 'a',
    idMinted: false,
    name: 'f',
    args: '{"id":12345678901234567890}',
    kind: 'function',
  }
  const encoded = messagesDialect.encodeRequest(
    request({ messages: [user('x'), { role: 'assistant', parts: [call] }, tool({ t: 'tool_result', callId: 'a', parts: [] })] }),
    testHop(),
  )
  expect(new TextDecoder().decode(encoded.body.bytes)).toContain('"input":{"id":12345678901234567890}')
})

it('counting sends only what is counted', () => {
  const encoded = messagesDialect.encodeRequest(
    request({
      source: 'messages',
      maxTokens: 5,
      stream: true,
      sampling: { temperature: 0.1 },
      stop: ['x'],
      endUser: 'u',
      reasoning: { mode: 'enabled', budgetTokens: 2000 },
    }),
    testHop({ operation: 'count_tokens' }),
  )
  expect(encoded.path).toBe('/v1/messages/count_tokens')
  expect(encoded.body.json()).toEqual({
    model: 'claude-sonnet-4-5',
    messages: [{ role: 'user', content: [{ type: 'text', text: 'Hi' }] }],
    thinking: { type: 'enabled', budget_tokens: 2000 },
  })
})

it('a stream is asked for, instructions stay in order', () => {
  const system: CanonicalRequest['system'] = [
    { role: 'system', parts: [{ t: 'text', text: 'a' }] },
    {
      role: 'developer',
      parts: [
        { t: 'text', text: ' ' },
        { t: 'text', text: 'b' },
      ],
    },
  ]
  expect(encode({ stream: true, system })).toMatchObject({
    stream: true,
    system: [
      { type: 'text', text: 'a' },
      { type: 'text', text: 'b' },
    ],
  })
})
