import { createAnthropic } from '@ai-sdk/anthropic'
import { generateText, streamText } from 'ai'
import { expect, it } from 'vitest'
import { messagesDialect } from '../../../../adapters/dialects/messages/index.ts'
import { claudeCaps } from '../../../../adapters/providers/caps/claude.ts'
import { headerBag } from '../../../../core/http/headers.ts'
import { wireBody } from '../../../../core/json/wire-body.ts'
import { replay } from '../../../../core/stream/collect.ts'
import type { CanonicalResponse } from '../../../../core/types/request/answer.ts'
import { deepFreeze, testHop } from './fixtures.ts'

it('a request of this dialect decoded and encoded again says the same', () => {
  const ephemeral = { type: 'ephemeral' }
  const wire = {
    model: 'claude-opus-5',
    max_tokens: 4096,
    stream: true,
    system: [{ type: 'text', text: 'Be brief.', cache_control: { type: 'ephemeral', ttl: '1h' } }],
    messages: [
      {
        role: 'user',
        content: [
          { type: 'text', text: 'Look.' },
          { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AA==' } },
        ],
      },
      {
        role: 'assistant',
        content: [
          { type: 'text', text: 'First' },
          { type: 'thinking', thinking: 'hm', signature: 'c2ln' },
          { type: 'redacted_thinking', data: 'ZGF0YQ==' },
          { type: 'server_tool_use', id: 'srv_1', name: 'web_search', input: { query: 'q' } },
          { type: 'web_search_tool_result', tool_use_id: 'srv_1', content: [] },
          {
            type: 'tool_use',
            id: 'toolu_1',
            name: 'f',
            input: { n: 1 },
            caller: { type: 'code_execution_20250825', tool_id: 'x' },
          },
        ],
      },
      {
        role: 'user',
        content: [
          {
            type: 'tool_result',
            tool_use_id: 'toolu_1',
            content: [{ type: 'tool_reference', tool_name: 'g' }],
            cache_control: ephemeral,
          },
          {
            type: 'search_result',
            source: 'https://s',
            title: 'S',
            content: [{ type: 'text', text: 'found' }],
            citations: { enabled: true },
          },
          { type: 'document', source: { type: 'base64', media_type: 'application/pdf', data: 'UA==' }, title: 'T', context: 'C' },
        ],
      },
      { role: 'system', content: [{ type: 'text', text: 'Be quick.' }] },
      { role: 'user', content: [{ type: 'text', text: 'Go on.', cache_control: ephemeral }] },
    ],
    tools: [
      { name: 'f', description: 'F', input_schema: { type: 'object', properties: {} }, strict: true, input_examples: [{ n: 1 }] },
      { type: 'web_search_20250305', name: 'web_search', max_uses: 3 },
    ],
    tool_choice: { type: 'auto', disable_parallel_tool_use: true },
    thinking: { type: 'adaptive', display: 'omitted' },
    output_config: { effort: 'xhigh', format: { type: 'json_schema', schema: { type: 'object' } }, task_budget: { total: 5 } },
    stop_sequences: ['END'],
    metadata: { user_id: 'a@b.de' },
    service_tier: 'standard_only',
    context_management: { edits: [] },
    future: { field: true },
  }
  const codec = testHop({ caller: 'messages', model: wire.model, stream: true })
  const decoded = messagesDialect.decodeRequest(wireBody(JSON.stringify(wire)), headerBag(), { operation: 'chat' })
  expect(messagesDialect.encodeRequest(deepFreeze(decoded), codec).body.json()).toEqual({
    ...wire,
    // Citations are not sent together with structured output.
    messages: JSON.parse(JSON.stringify(wire.messages).replace(',"citations":{"enabled":true}', '')),
  })
  expect(codec.warnings).toEqual(['dropped_citations'])
})

const answer: CanonicalResponse = {
  id: 'chatcmpl-1',
  created: 1,
  model: 'gpt-x',
  choices: [
    {
      index: 0,
      parts: [
        { t: 'reasoning', text: 'hm' },
        { t: 'text', text: 'Hello', annotations: [{ kind: 'url', url: 'https://x', raw: {}, dialect: 'chat' }] },
      ],
      finish: 'stop',
      nativeFinish: 'stop',
    },
  ],
  usage: { inputTotal: 20, cacheRead: 8, cacheWrite: 0, outputTotal: 7, total: 27, estimated: false, raw: null },
  ext: {},
}

it('the AI SDK reads our answers, streamed or not', async () => {
  const codec = () => testHop({ caller: 'messages', upstream: 'chat', caps: claudeCaps('x') })
  const model = (text: string, type: string) =>
    createAnthropic({ apiKey: 'x', fetch: async () => new Response(text, { headers: { 'content-type': type } }) })(
      'claude-sonnet-4-5',
    )
  const whole = await generateText({
    model: model(messagesDialect.encodeResponse(deepFreeze(answer), codec()), 'application/json'),
    prompt: 'x',
  })
  expect(whole).toMatchObject({ text: 'Hello', reasoningText: 'hm', finishReason: 'stop' })
  const encoder = messagesDialect.encodeStream(codec())
  let text = ''
  replay(answer, (event) => {
    text += encoder.event(event)
  })
  const streamed = streamText({ model: model(text, 'text/event-stream'), prompt: 'x' })
  expect(await streamed.text).toBe('Hello')
  expect(await streamed.reasoningText).toBe('hm')
  expect(await streamed.finishReason).toBe('stop')
})
