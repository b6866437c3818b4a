import { describe, expect, it } from 'vitest'
import { openaiCaps } from '../../../../adapters/providers/caps/openai.ts'
import { wrapSignature } from '../../../../core/models/signature.ts'
import { callsOf, codec, splice, thrown } from './support.ts'

const MESSAGES = [{ role: 'user', content: 'hi' }]
const openai = (model: string, extra: object = {}) =>
  codec({ model, caps: openaiCaps(model), quirks: { maxTools: 128, acceptsPartArrays: true }, ...extra })

describe('the byte lane of a chat request', () => {
  it('only the model changes, digits, order and unknown fields survive', () => {
    const body =
      '{ "model":"openai/some-model", "seed":9223372036854775807,"messages":[{"role":"user","content":"hi","zz":1e400}],  "10":1,"2":{"foo":[ 1.50 ]} }'
    expect(splice(body).text).toBe(body.replace('openai/some-model', 'some-model'))
  })

  it('streams get include_usage, whatever the caller said', () => {
    const on = () => codec({ stream: true })
    expect(splice({ model: 'm', messages: MESSAGES, stream: true }, on()).wire.stream_options).toEqual({ include_usage: true })
    expect(splice({ model: 'm', messages: MESSAGES, stream_options: null }, on()).wire.stream_options).toEqual({
      include_usage: true,
    })
    expect(
      splice({ model: 'm', messages: MESSAGES, stream_options: { include_usage: false, x: 1 } }, on()).wire.stream_options,
    ).toEqual({ include_usage: true, x: 1 })
    expect(splice({ model: 'm', messages: MESSAGES, stream_options: {} }, on()).wire.stream_options).toEqual({
      include_usage: true,
    })
    expect(
      splice(
        { model: 'm', messages: MESSAGES, stream_options: {} },
        codec({ stream: true, quirks: { rejectsStreamOptions: true } }),
      ).wire,
    ).not.toHaveProperty('stream_options')
    expect(splice({ model: 'm', messages: MESSAGES }).wire).not.toHaveProperty('stream_options')
  })

  it('text parts of system and tool messages are joined, and cache marks stay only for vendors that read them', () => {
    const part = (text: string, extra: object = {}) => ({ type: 'text', text, ...extra })
    const messages = [
      { role: 'system', content: [part('a'), part('b')], name: 'n', foo: 1 },
      { role: 'developer', content: [part('c', { cache_control: { type: 'ephemeral' } }), part('d')] },
      { role: 'user', content: [part('stay'), part('apart')] },
      { role: 'tool', tool_call_id: 'x', content: [part('e'), part('f')] },
      { role: 'tool', tool_call_id: 'y', content: [part('g'), { type: 'image_url', image_url: { url: 'u' } }] },
    ]
    const joined = splice({ model: 'm', messages }).wire.messages
    expect(joined.map((message) => message.content)).toEqual(['a\nb', 'c\nd', messages[2]?.content, 'e\nf', messages[4]?.content])
    expect(joined[0]).toMatchObject({ name: 'n', foo: 1 })
    const marked = splice({ model: 'm', messages }, codec({ quirks: { acceptsPartArrays: true } })).wire.messages
    expect(marked[1]?.content).toEqual(messages[1]?.content)
    expect(marked[0]?.content).toBe('a\nb')
  })

  it('many joins are still exact', () => {
    const messages = Array.from({ length: 40 }, (_, at) => ({
      role: 'tool',
      tool_call_id: `c${at}`,
      content: [
        { type: 'text', text: `${at}` },
        { type: 'text', text: 'é"\\' },
      ],
    }))
    expect(splice({ model: 'm', messages }).wire.messages.map((message) => message.content)).toEqual(
      messages.map((_, at) => `${at}\né"\\`),
    )
  })

  it('a text that only looks like a part array is left alone', () => {
    const body = {
      model: 'some-model',
      messages: [
        { role: 'system', content: '"content":[{"type":"text"}] "tool"' },
        { role: 'user', content: [{ type: 'text', text: '"tool_calls" "system"' }] },
      ],
    }
    expect(splice(body).text).toBe(JSON.stringify(body))
  })

  it('call ids that the upstream would refuse are hashed in the same way on call and result', () => {
    const long = 'y'.repeat(90)
    const messages = [
      { role: 'user', content: 'x' },
      {
        role: 'assistant',
        content: null,
        tool_calls: [{ id: long, type: 'function', function: { name: 'f', arguments: '{}' } }],
      },
      { role: 'tool', tool_call_id: long, content: 'r' },
    ]
    const wire = splice({ model: 'm', messages }).wire.messages
    expect(callsOf(wire[1])[0]?.id).toBe(wire[2]?.tool_call_id)
    expect(wire[2]?.tool_call_id).toMatch(/^call_[0-9a-f]{16}$/)
    const mistral = splice({ model: 'm', messages }, codec({ quirks: { toolIds: 'alnum9' } })).wire.messages
    expect(mistral[2]?.tool_call_id).toMatch(/^[a-zA-Z0-9]{9}$/)
    expect(callsOf(mistral[1])[0]?.id).toBe(mistral[2]?.tool_call_id)
  })

  it('rules of the model change their fields, with warnings', () => {
    const on = openai('gpt-5')
    const { wire } = splice(
      { model: 'x', messages: MESSAGES, max_tokens: 100, temperature: 0.2, top_p: 1, stop: ['a'], reasoning_effort: 'xhigh' },
      on,
    )
    expect(wire).toEqual({ model: 'gpt-5', messages: MESSAGES, max_completion_tokens: 100, top_p: 1, reasoning_effort: 'high' })
    expect(on.warnings.sort()).toEqual(['dropped_stop', 'dropped_temperature', 'reasoning_clamped'])
    expect(splice({ model: 'x', messages: MESSAGES, max_tokens: 1, max_completion_tokens: 2 }, openai('o3')).wire).toMatchObject({
      max_completion_tokens: 2,
    })
    expect(
      splice(
        { model: 'x', messages: MESSAGES, max_tokens: 1, max_completion_tokens: 2 },
        codec({ quirks: { maxTokensField: 'max_tokens' } }),
      ).wire,
    ).toEqual({ model: 'some-model', messages: MESSAGES, max_tokens: 2 })
  })

  it('without facts about the target nothing is judged', () => {
    const body = {
      model: 'some-model',
      messages: MESSAGES,
      max_tokens: 1,
      temperature: 2,
      stop: ['1', '2', '3', '4', '5'],
      n: 3,
      logprobs: true,
      top_k: 5,
      reasoning_effort: 'whatever',
    }
    expect(splice(body).text).toBe(JSON.stringify(body))
  })

  it('an empty tools list takes tool_choice with it', () => {
    expect(splice({ model: 'm', messages: MESSAGES, tools: [], tool_choice: 'auto', parallel_tool_calls: true }).wire).toEqual({
      model: 'some-model',
      messages: MESSAGES,
    })
    const kept = { model: 'some-model', messages: MESSAGES, functions: [{ name: 'f' }], function_call: 'auto' }
    expect(splice(kept).wire).toEqual(kept)
  })

  it('what this target cannot do is refused, so that another may', () => {
    expect(
      thrown(() => splice({ model: 'm', messages: MESSAGES, n: 2 }, codec({ quirks: { noMultipleChoices: true } }))),
    ).toMatchObject({ param: 'n', code: 'unsupported_for_target' })
    const tools = Array.from({ length: 129 }, (_, at) => ({ type: 'function', function: { name: `f${at}`, parameters: {} } }))
    expect(thrown(() => splice({ model: 'm', messages: MESSAGES, tools }, openai('gpt-4.1')))).toMatchObject({ param: 'tools' })
    expect(() => splice({ model: 'm', messages: MESSAGES, tools: tools.slice(1) }, openai('gpt-4.1'))).not.toThrow()
    expect(thrown(() => splice({ model: 'm', messages: MESSAGES, tools: tools.slice(1, 2) }, openai('gpt-6.2')))).toMatchObject({
      param: 'tools',
    })
  })

  it('forwards the headers of the dialect and no other', () => {
    expect(
      splice({ model: 'm', messages: MESSAGES }, codec(), [
        'OpenAI-Beta',
        'a',
        'idempotency-key',
        'b',
        'authorization',
        'c',
        'cookie',
        'd',
      ]).headers,
    ).toEqual(['openai-beta', 'a', 'idempotency-key', 'b'])
  })

  it('a developer message becomes system where the provider has no such role', () => {
    expect(
      splice({ model: 'm', messages: [{ role: 'developer', content: 'x' }] }, codec({ quirks: { developerRole: false } })).wire
        .messages[0],
    ).toEqual({ role: 'system', content: 'x' })
  })
  it('a call’s secret of another vendor is removed, one of the chat vendor stays', () => {
    const call = (value: string) => ({
      id: 'c1',
      type: 'function',
      function: { name: 'f', arguments: '{"n":12345678901234567890}' },
      extra_content: { google: { thought_signature: value } },
    })
    const body = (...calls: object[]) => ({
      model: 'some-model',
      messages: [{ role: 'assistant', content: null, tool_calls: calls }],
    })
    const { extra_content: _, ...bare } = call('')
    const envelope = wrapSignature({ dialect: 'generate_content', modelFamily: 'gemini', value: 's' })
    expect(splice(body(call(envelope), call('own'))).text).toBe(JSON.stringify(body(bare, call('own'))))
    const many = Array.from({ length: 12 }, () => call(envelope))
    expect(splice(body(...many)).wire.messages[0]?.tool_calls).toEqual(many.map(() => bare))
  })
})
