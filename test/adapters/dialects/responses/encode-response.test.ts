import { generateText } from 'ai'
import { describe, expect, it } from 'vitest'
import { unwrapSignature } from '../../../../core/models/signature.ts'
import type { CanonicalResponse, Finish } from '../../../../core/types/request/answer.ts'
import type { Part } from '../../../../core/types/request/canonical.ts'
import { aiModel, call, codec, decode, driver, encoded, freeze, openai, type Wire } from './support.ts'

const USAGE = {
  inputTotal: 10,
  cacheRead: 4,
  cacheWrite: 1,
  outputTotal: 6,
  reasoning: 2,
  total: 16,
  estimated: false,
  raw: null,
}

function response(parts: Part[], finish: Finish = 'stop', overrides: Partial<CanonicalResponse> = {}): CanonicalResponse {
  return {
    id: 'chatcmpl-1',
    created: 1_700_000_000,
    model: 'claude-x',
    choices: [{ index: 0, parts, finish, nativeFinish: finish }],
    usage: USAGE,
    ext: {},
    ...overrides,
  }
}

describe('responses: encoding an answer', () => {
  it('has every member the published schemas require, with the defaults they may not leave null', () => {
    const body = encoded(response([{ t: 'text', text: 'hi' }]))
    expect(body).toMatchObject({
      object: 'response',
      created_at: 1_700_000_000,
      completed_at: 1_795_000_000,
      status: 'completed',
      model: 'claude-x',
      error: null,
      incomplete_details: null,
      instructions: null,
      metadata: {},
      parallel_tool_calls: true,
      temperature: 1,
      top_p: 1,
      presence_penalty: 0,
      frequency_penalty: 0,
      top_logprobs: 0,
      truncation: 'disabled',
      service_tier: 'default',
      store: false,
      background: false,
      tool_choice: 'auto',
      tools: [],
      max_output_tokens: null,
      max_tool_calls: null,
      previous_response_id: null,
      reasoning: { effort: null, summary: null },
      text: { format: { type: 'text' } },
      safety_identifier: null,
      prompt_cache_key: null,
      user: null,
      usage: {
        input_tokens: 10,
        input_tokens_details: { cached_tokens: 4, cache_write_tokens: 1 },
        output_tokens: 6,
        output_tokens_details: { reasoning_tokens: 2 },
        total_tokens: 16,
      },
    })
    expect(body.output).toEqual([
      {
        id: expect.stringMatching(/^msg_/),
        type: 'message',
        status: 'completed',
        role: 'assistant',
        content: [{ type: 'output_text', text: 'hi', annotations: [], logprobs: [] }],
      },
    ])
  })

  it('the id has this dialect’s prefix, the upstream’s own when it fits', () => {
    expect(encoded(response([])).id).toMatch(/^resp_/)
    expect(encoded(response([], 'stop', { id: 'resp_abc' })).id).toBe('resp_abc')
  })

  it('echoes the request as the caller wrote it', () => {
    const wire = {
      model: 'm',
      input: 'x',
      instructions: 'Be brief.',
      tools: [
        { type: 'function', name: 'f', parameters: { type: 'object' }, strict: true },
        { type: 'web_search', search_context_size: 'low' },
      ],
      tool_choice: { type: 'function', name: 'f' },
      temperature: 0.5,
      store: true,
      max_output_tokens: 50,
      max_tool_calls: 2,
      metadata: { a: 'b' },
      reasoning: { effort: 'low', context: 'all' },
      text: { format: { type: 'json_schema', name: 'n', schema: {} } },
      parallel_tool_calls: false,
      user: 'u',
    }
    const request = freeze(decode(wire))
    for (const upstream of ['chat', 'messages', 'generate_content'] as const)
      expect(encoded(response([]), codec({ upstream, request })).store, upstream).toBe(false)
    expect(encoded(response([]), codec({ upstream: 'responses', request }))).toMatchObject({
      instructions: 'Be brief.',
      tools: [{ type: 'function', name: 'f', description: null, parameters: { type: 'object' }, strict: true }, wire.tools[1]],
      tool_choice: wire.tool_choice,
      temperature: 0.5,
      store: true,
      max_output_tokens: 50,
      max_tool_calls: 2,
      metadata: { a: 'b' },
      reasoning: { effort: 'low', summary: null, context: 'all' },
      text: { format: { type: 'json_schema', name: 'n', schema: {}, strict: false } },
      parallel_tool_calls: false,
      user: 'u',
    })
  })

  it.each<[Finish, string, string | null]>([
    ['stop', 'completed', null],
    ['stop_sequence', 'completed', null],
    ['tool_calls', 'completed', null],
    ['pause', 'completed', null],
    ['length', 'incomplete', 'max_output_tokens'],
    ['context_window', 'incomplete', 'max_output_tokens'],
    ['content_filter', 'incomplete', 'content_filter'],
    ['refusal', 'incomplete', 'content_filter'],
    ['error', 'failed', null],
  ])('finish %s has status %s', (finish, status, reason) => {
    const body = encoded(response([{ t: 'text', text: 'x' }], finish))
    expect(body.status).toBe(status)
    expect(body.incomplete_details).toEqual(reason === null ? null : { reason })
    expect(body.completed_at === null).toBe(status === 'failed')
  })

  it('a refusal with text is a completed response with a refusal part', () => {
    const body = encoded(response([{ t: 'refusal', text: 'I can’t' }], 'refusal'))
    expect(body.status).toBe('completed')
    expect(body.output[0].content).toEqual([{ type: 'refusal', refusal: 'I can’t' }])
  })

  it('a malformed call gives no item', () => {
    expect(encoded(response([call('a', 'f', '{bad')], 'malformed_tool_call')).output).toEqual([])
  })

  it('custom calls and namespaces are restored', () => {
    const { output } = encoded(
      response(
        [call('a', 'apply_patch', '*** Begin', { kind: 'custom' }), call('b', 'go', '{}', { namespace: 'mcp' })],
        'tool_calls',
      ),
    )
    expect(output).toEqual([
      {
        id: expect.stringMatching(/^ctc_/),
        type: 'custom_tool_call',
        status: 'completed',
        call_id: 'a',
        name: 'apply_patch',
        input: '*** Begin',
      },
      {
        id: expect.stringMatching(/^fc_/),
        type: 'function_call',
        status: 'completed',
        call_id: 'b',
        name: 'go',
        arguments: '{}',
        namespace: 'mcp',
      },
    ])
    expect(encoded(response([call('a', 'c', '{"input":"x\\ny"}', { kind: 'custom' })])).output[0].input).toBe('x\ny')
  })

  it('a call without arguments has an empty object: clients parse the text', () => {
    expect(encoded(response([call('a', 'now', '')], 'tool_calls')).output[0].arguments).toBe('{}')
  })

  it('reasoning is a summary; own secrets are plain, foreign ones in the envelope, call signatures carried before the call', () => {
    const { output } = encoded(
      response([
        { t: 'reasoning', text: 'think', signature: { dialect: 'messages', modelFamily: 'claude', value: 's' } },
        {
          t: 'reasoning',
          text: '',
          summary: ['a', 'b'],
          signature: { dialect: 'responses', modelFamily: 'gpt', value: 'gAAA' },
          itemId: 'rs_up',
        },
        { t: 'reasoning', text: '', redacted: 'blob', encrypted: { dialect: 'messages', modelFamily: 'claude', value: 'blob' } },
        { t: 'reasoning', text: '' },
        call('a', 'f', '{}', { signature: { dialect: 'generate_content', modelFamily: 'gemini', value: 'g' } }),
      ]),
    )
    expect(output.map((item: Wire) => item.type)).toEqual(['reasoning', 'reasoning', 'reasoning', 'reasoning', 'function_call'])
    expect(output[0].summary).toEqual([{ type: 'summary_text', text: 'think' }])
    expect(unwrapSignature(output[0].encrypted_content)).toEqual({ dialect: 'messages', modelFamily: 'claude', value: 's' })
    expect(output[1]).toEqual({
      id: 'rs_up',
      type: 'reasoning',
      summary: [
        { type: 'summary_text', text: 'a' },
        { type: 'summary_text', text: 'b' },
      ],
      encrypted_content: 'gAAA',
    })
    expect(unwrapSignature(output[2].encrypted_content)).toMatchObject({ modelFamily: 'claude', value: 'redacted:blob' })
    expect(unwrapSignature(output[3].encrypted_content)).toMatchObject({ dialect: 'generate_content', value: 'g' })
    const back = decode({ model: 'm', input: [...output, { type: 'function_call_output', call_id: 'a', output: 'x' }] })
    expect(back.messages[0]?.parts).toMatchObject([
      { signature: { value: 's' } },
      { signature: { dialect: 'responses', value: 'gAAA' } },
      { redacted: 'blob' },
      { t: 'tool_call', signature: { value: 'g' } },
    ])
  })

  it('neighbouring texts are one message; citations of the web become url_citation', () => {
    const { output } = encoded(
      response([
        { t: 'text', text: 'one ' },
        {
          t: 'text',
          text: 'two',
          annotations: [
            { kind: 'char', url: 'https://a', title: 'A', raw: {}, dialect: 'messages' },
            { kind: 'page', raw: {}, dialect: 'messages' },
          ],
        },
      ]),
    )
    expect(output).toHaveLength(1)
    expect(output[0].content[1].annotations).toEqual([
      { type: 'url_citation', start_index: 0, end_index: 3, url: 'https://a', title: 'A' },
    ])
  })

  it('what leaves no item does not divide a message', () => {
    const searched = { t: 'server_tool', dialect: 'messages', kind: 'web_search_tool_result', raw: {} } as const
    const { output } = encoded(response([{ t: 'text', text: 'one ' }, searched, { t: 'text', text: 'two' }]))
    expect(output).toHaveLength(1)
    expect(output[0].content.map((part: Wire) => part.text)).toEqual(['one ', 'two'])
  })

  it('a cut answer is incomplete at its end only', () => {
    const { output } = encoded(response([{ t: 'text', text: 'x' }, call('a', 'f', '{"a')], 'length'))
    expect(output.map((item: Wire) => item.status)).toEqual(['completed', 'incomplete'])
    expect(output[1].arguments).toBe('{"a')
  })

  it('is understood by the official SDK and the AI SDK', async () => {
    const text = driver.encodeResponse(
      freeze(
        response(
          [
            { t: 'reasoning', text: 'hm' },
            { t: 'text', text: 'hello' },
            call('a', 'f', '{"x":1}'),
            call('b', 'c', 'free', { kind: 'custom' }),
          ],
          'tool_calls',
        ),
      ),
      codec(),
    )
    const answer = await openai(text, 'application/json').responses.create({ model: 'm', input: 'x' })
    expect(answer.output_text).toBe('hello')
    const generated = await generateText({ model: aiModel(text, 'application/json'), prompt: 'x' })
    expect(generated).toMatchObject({ text: 'hello', reasoningText: 'hm', usage: { inputTokens: 10, outputTokens: 6 } })
    expect(generated.toolCalls[0]).toMatchObject({ toolCallId: 'a', toolName: 'f' })
  })
})
