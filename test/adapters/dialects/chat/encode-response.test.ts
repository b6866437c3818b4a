import { describe, expect, it } from 'vitest'
import type { CanonicalResponse, Choice, Usage } from '../../../../core/types/request/answer.ts'
import { codec, driver, freeze, toolCall } from './support.ts'

const USAGE: Usage = {
  inputTotal: 10,
  cacheRead: 3,
  cacheWrite: 2,
  outputTotal: 5,
  reasoning: 1,
  total: 15,
  estimated: false,
  raw: null,
}

function encode(choice: Partial<Choice>, extra: Partial<CanonicalResponse> = {}, on = codec({ upstream: 'messages' })) {
  const response: CanonicalResponse = {
    id: 'msg_1',
    created: 7,
    model: 'claude',
    choices: [{ index: 0, parts: [], finish: 'stop', nativeFinish: 'end_turn', ...choice }],
    usage: USAGE,
    ext: {},
    ...extra,
  }
  return JSON.parse(driver.encodeResponse(freeze(response), on))
}

describe('a canonical answer for a chat caller', () => {
  it('emits every member that the published schema requires', () => {
    expect(encode({ parts: [{ t: 'text', text: 'hi' }] })).toEqual({
      id: 'chatcmpl-id1',
      object: 'chat.completion',
      created: 7,
      model: 'claude',
      choices: [
        { index: 0, message: { role: 'assistant', content: 'hi', refusal: null }, logprobs: null, finish_reason: 'stop' },
      ],
      usage: {
        prompt_tokens: 10,
        completion_tokens: 5,
        total_tokens: 15,
        prompt_tokens_details: { cached_tokens: 3, cache_write_tokens: 2, audio_tokens: 0 },
        completion_tokens_details: {
          reasoning_tokens: 1,
          audio_tokens: 0,
          accepted_prediction_tokens: 0,
          rejected_prediction_tokens: 0,
        },
      },
    })
  })

  it('an id of the dialect is kept, others are replaced, missing facts are filled', () => {
    expect(encode({}, { id: 'chatcmpl-abc' }).id).toBe('chatcmpl-abc')
    expect(encode({}, { id: '', created: 0, model: '' })).toMatchObject({
      id: 'chatcmpl-id1',
      created: 1_700_000_000,
      model: 'some-model',
    })
  })

  it('thoughts, summaries, texts, calls and citations each have their place', () => {
    const wire = encode({
      parts: [
        { t: 'reasoning', text: 'a' },
        { t: 'reasoning', text: '', summary: ['b', 'c'] },
        { t: 'text', text: 'one' },
        {
          t: 'text',
          text: 'two',
          annotations: [
            { kind: 'url', url: 'https://x.test', title: 'T', raw: null, dialect: 'messages' },
            { kind: 'page', raw: null, dialect: 'messages' },
          ],
        },
        toolCall('c', 'f', ''),
      ],
      finish: 'tool_calls',
    })
    expect(wire.choices[0]).toMatchObject({
      finish_reason: 'tool_calls',
      message: {
        content: 'onetwo',
        reasoning_content: 'a\n\nb\n\nc',
        annotations: [
          { type: 'url_citation', url_citation: { start_index: 3, end_index: 6, url: 'https://x.test', title: 'T' } },
        ],
        tool_calls: [{ id: 'c', type: 'function', function: { name: 'f', arguments: '{}' } }],
      },
    })
    expect(wire.choices[0].message).not.toHaveProperty('reasoning')
  })

  it('a foreign secret of a call travels in an envelope where clients replay it', () => {
    const wire = encode({
      parts: [toolCall('c', 'f', '{}', { signature: { dialect: 'generate_content', modelFamily: 'gemini', value: 's' } })],
    })
    expect(wire.choices[0].message.tool_calls[0].extra_content.google.thought_signature).toMatch(
      /^gw1\.generate_content\.gemini\./,
    )
  })

  it.each([
    ['stop_sequence', 'stop', ''],
    ['length', 'length', ''],
    ['context_window', 'length', ''],
    ['pause', 'stop', ''],
    ['malformed_tool_call', 'stop', ''],
    ['other', 'stop', ''],
    ['compaction', 'stop', ''],
  ] as const)('finish %s is %s', (finish, word, content) => {
    expect(encode({ finish }).choices[0]).toMatchObject({ finish_reason: word, message: { content } })
  })

  it('filtered answers have content null; a refusal of Anthropic is content_filter', () => {
    expect(encode({ finish: 'content_filter' }).choices[0]).toMatchObject({
      finish_reason: 'content_filter',
      message: { content: null },
    })
    expect(encode({ finish: 'refusal', nativeFinish: 'refusal' }).choices[0].finish_reason).toBe('content_filter')
    expect(
      encode({ finish: 'refusal', nativeFinish: 'completed', parts: [{ t: 'refusal', text: 'no' }] }).choices[0],
    ).toMatchObject({ finish_reason: 'stop', message: { content: null, refusal: 'no' } })
  })

  it('a broken call is dropped, and calls override the finish reason stop', () => {
    expect(encode({ finish: 'malformed_tool_call', parts: [toolCall('c', 'f', '{')] }).choices[0].message).not.toHaveProperty(
      'tool_calls',
    )
    expect(encode({ finish: 'stop', parts: [toolCall('c', 'f')] }).choices[0].finish_reason).toBe('tool_calls')
  })

  it('pause_turn and generated images warn', () => {
    const on = codec({ upstream: 'messages' })
    const wire = encode(
      { finish: 'pause', parts: [{ t: 'image', src: { kind: 'base64', mime: 'image/png', data: 'AA==' } }] },
      {},
      on,
    )
    expect(wire.choices[0].message.images).toEqual([
      { type: 'image_url', image_url: { url: 'data:image/png;base64,AA==' }, index: 0 },
    ])
    expect(on.warnings).toEqual(['pause_turn', 'image_output'])
  })

  it('several choices keep their index', () => {
    const parts = [{ t: 'text' as const, text: 'x' }]
    const choices: Choice[] = [0, 1].map((index) => ({ index, parts, finish: 'stop', nativeFinish: 'STOP' }))
    expect(encode({}, { choices }).choices.map((choice: { index: number }) => choice.index)).toEqual([0, 1])
  })
})

it.each([
  ['standard', 'default'],
  ['default', 'default'],
  ['flex', 'flex'],
  ['priority', 'priority'],
  ['scale', 'scale'],
  ['auto', 'auto'],
  ['batch', undefined],
  ['on_demand', undefined],
])('says only service tiers of the published schema: %s', (serviceTier, shown) => {
  expect(encode({}, { serviceTier }).service_tier).toBe(shown)
})
