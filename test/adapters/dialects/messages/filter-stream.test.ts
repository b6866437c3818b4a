import Anthropic from '@anthropic-ai/sdk'
import { expect, it } from 'vitest'
import { messagesDialect } from '../../../../adapters/dialects/messages/index.ts'
import { messagesReplies } from '../../../../adapters/testing/replies/messages.ts'
import { GatewayError } from '../../../../core/errors/gateway-error.ts'
import { framesOf, sse, testHop } from './fixtures.ts'

function filter(text: string) {
  const lane = messagesDialect.filterStream(testHop({ caller: 'messages', stream: true }))
  let out = ''
  for (const frame of framesOf(text)) {
    const kept = lane.frame(frame)
    if (kept !== null) out += typeof kept === 'string' ? kept : new TextDecoder().decode(kept)
  }
  return { out: out + lane.end(), facts: lane.facts, lane }
}

const start = {
  type: 'message_start',
  message: { id: 'msg_1', type: 'message', role: 'assistant', content: [], usage: { input_tokens: 8834, output_tokens: 0 } },
}
const text = (index: number, value: string) => [
  { type: 'content_block_start', index, content_block: { type: 'text', text: '' } },
  { type: 'content_block_delta', index, delta: { type: 'text_delta', text: value } },
  { type: 'content_block_stop', index },
]
const stop = { type: 'message_delta', delta: { stop_reason: 'end_turn', stop_sequence: null }, usage: { output_tokens: 9 } }
const end = { type: 'message_stop' }

it('a well-formed stream passes byte for byte, pings and comments included', () => {
  const vendor = `: hello\n\n${messagesReplies.frames({ reasoning: { text: 'hm' }, text: 'Grüße', toolCalls: [{ id: 't', name: 'f', args: '{}' }] }).join('')}`
  const { out, facts } = filter(vendor)
  expect(out).toBe(vendor)
  expect(facts).toMatchObject({
    content: true,
    contentBytes: 11,
    terminal: true,
    finish: 'tool_calls',
    error: null,
    usage: { inputTotal: 12, outputTotal: 7 },
  })
})

it('a second message_start and content after stop_reason are dropped', () => {
  const { out, facts } = filter(sse(start, ...text(0, 'a'), start, stop, ...text(1, 'late'), end, end))
  expect(out).toBe(sse(start, ...text(0, 'a'), stop, end))
  expect(facts.contentBytes).toBe(1)
})

it('the facts keep the usage, and the frames stay unchanged', () => {
  const split = { ...stop, usage: { input_tokens: 18, cache_read_input_tokens: 8831, output_tokens: 9 } }
  const { out, facts } = filter(sse(start, ...text(0, 'a'), split, end))
  expect(out).toBe(sse(start, ...text(0, 'a'), split, end))
  expect(facts.usage).toMatchObject({ inputTotal: 8849, cacheRead: 8831, outputTotal: 9 })
})

it('a cut before stop_reason is an error; after it the filter adds the missing end of the stream', () => {
  expect(filter(sse(start, ...text(0, 'a'))).facts.error).toMatchObject({ status: 502, upstream: { kind: 'reset' } })
  const { out, facts } = filter(sse(start, ...text(0, 'a'), stop))
  expect(out).toBe(sse(start, ...text(0, 'a'), stop, end))
  expect(facts.error).toBeNull()
})

it('an error event becomes a fact, not a frame', () => {
  const { out, facts } = filter(sse(start) + messagesReplies.errorFrames('Overloaded').join('') + sse(...text(0, 'x')))
  expect(out).toBe(sse(start))
  expect(facts.error).toMatchObject({ status: 529, message: 'Overloaded', upstream: { kind: 'stream' } })
})

it('broken JSON is a protocol error', () => {
  expect(filter('event: content_block_delta\ndata: {bad\n\n').facts.error).toMatchObject({
    status: 502,
    upstream: { kind: 'protocol' },
  })
})

it('what an SDK cannot do without is added: event names and usage', async () => {
  const events = [
    { ...start, message: { ...start.message, usage: undefined } },
    ...text(0, 'a'),
    { ...stop, usage: undefined },
    end,
  ]
  const { out } = filter(`${events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join('')}data: [DONE]\n\n`)
  const fetch = async () => new Response(out, { headers: { 'content-type': 'text/event-stream' } })
  const client = new Anthropic({ apiKey: 'x', fetch, maxRetries: 0 })
  const message = await client.messages
    .stream({ model: 'm', max_tokens: 5, messages: [{ role: 'user', content: 'x' }] })
    .finalMessage()
  expect(message).toMatchObject({ content: [{ type: 'text', text: 'a' }], usage: { output_tokens: 0 } })
})

it('the caller’s error frame', () => {
  expect(filter('').lane.error(GatewayError.timeout('Silence.'))).toBe(
    'event: error\ndata: {"type":"error","error":{"type":"api_error","message":"Silence."}}\n\n',
  )
})
