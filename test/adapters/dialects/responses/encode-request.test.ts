import { describe, expect, it } from 'vitest'
import type { Part } from '../../../../core/types/request/canonical.ts'
import { assistant, call, codec, encode, request, result, user } from './support.ts'

describe('responses: encoding a request', () => {
  it('instructions stay input items in their place, and store is false', () => {
    const body = encode(
      request({
        system: [{ role: 'developer', parts: [{ t: 'text', text: 'a' }] }],
        messages: [user('hi'), { role: 'system', parts: [{ t: 'text', text: 'b' }] }],
        maxTokens: 100,
      }),
    )
    expect(body).toEqual({
      model: 'gpt-5.6',
      store: false,
      max_output_tokens: 100,
      input: [
        { type: 'message', role: 'developer', content: [{ type: 'input_text', text: 'a' }] },
        { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'hi' }] },
        { type: 'message', role: 'system', content: [{ type: 'input_text', text: 'b' }] },
      ],
    })
  })

  it('a backend that requires instructions gets the first system block there', () => {
    const body = encode(
      request({ system: [{ role: 'system', parts: [{ t: 'text', text: 'a' }] }] }),
      codec({ quirks: { instructionsRequired: true } }),
    )
    expect(body.instructions).toBe('a')
    expect(body.input).toHaveLength(1)
    expect(encode(request(), codec({ quirks: { instructionsRequired: true } })).instructions).toBe('')
  })

  it('text, call and result keep their order and lose foreign ids', () => {
    const body = encode(
      request({
        messages: [
          user('go'),
          assistant('Looking.', call('toolu_1', 'f', '{"a":12345678901234567890}', { itemId: 'x' })),
          { role: 'tool', parts: [result('toolu_1', 'yes')] },
          user('and?'),
        ],
      }),
    )
    expect(body.input.slice(1)).toEqual([
      { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'Looking.', annotations: [] }] },
      { type: 'function_call', call_id: 'toolu_1', name: 'f', arguments: '{"a":12345678901234567890}' },
      { type: 'function_call_output', call_id: 'toolu_1', output: 'yes' },
      { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'and?' }] },
    ])
  })

  it('an orphan output becomes user text or is dropped when empty; a call without output gets one', () => {
    const at = codec()
    const body = encode(
      request({
        messages: [{ role: 'tool', parts: [result('gone', 'x'), result('gone2')] }, assistant(call('a', 'f')), user('?')],
      }),
      at,
    )
    expect(body.input).toEqual([
      { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'Tool result: x' }] },
      { type: 'function_call', call_id: 'a', name: 'f', arguments: '{}' },
      { type: 'function_call_output', call_id: 'a', output: 'Error: No result provided' },
      { type: 'message', role: 'user', content: [{ type: 'input_text', text: '?' }] },
    ])
    expect(at.warnings).toEqual(['missing_tool_result'])
  })

  it('an empty result is an empty output, an error is marked, and media are native', () => {
    const image: Part = { t: 'image', src: { kind: 'base64', mime: 'image/png', data: 'QUJD' } }
    const body = encode(
      request({
        messages: [
          assistant(call('a', 'f'), call('b', 'f'), call('c', 'f')),
          {
            role: 'tool',
            parts: [
              result('a'),
              { t: 'tool_result', callId: 'b', isError: true, parts: [{ t: 'text', text: 'no file' }] },
              result('c', 'see', image),
            ],
          },
        ],
      }),
    )
    expect(body.input.slice(3).map((item: { output: unknown }) => item.output)).toEqual([
      '',
      'Error: no file',
      [
        { type: 'input_text', text: 'see' },
        { type: 'input_image', image_url: 'data:image/png;base64,QUJD', detail: 'auto' },
      ],
    ])
  })

  it('a call id over 64 characters is hashed in the same way on call and result', () => {
    const id = `call_${'x'.repeat(90)}`
    const { input } = encode(request({ messages: [assistant(call(id, 'f')), { role: 'tool', parts: [result(id, 'y')] }] }))
    expect(input[0].call_id).toBe(input[1].call_id)
    expect(input[0].call_id.length).toBeLessThanOrEqual(64)
  })

  it('tool names are sanitised and stay distinct', () => {
    const at = codec()
    const tools = ['a.b/c d', 'a_b/c_d'].map((name) => ({ t: 'function' as const, name, schema: {} }))
    const body = encode(
      request({ tools, messages: [user('x'), assistant(call('1', 'a.b/c d')), { role: 'tool', parts: [result('1', 'r')] }] }),
      at,
    )
    const names = body.tools.map((tool: { name: string }) => tool.name)
    expect(new Set(names).size).toBe(2)
    expect(names[0]).toMatch(/^[a-zA-Z0-9_-]{1,64}$/)
    expect(body.input[1].name).toBe(names[0])
    expect(at.names.get(names[0])).toBe('a.b/c d')
  })

  it('only reasoning of the same family is sent back, with its summary and without plain text', () => {
    const reasoning = (dialect: 'responses' | 'messages', modelFamily: string): Part => ({
      t: 'reasoning',
      text: 'plain',
      summary: ['s'],
      signature: { dialect, modelFamily, value: 'v' },
      itemId: 'rs_1',
    })
    const { input } = encode(
      request({
        messages: [
          assistant(
            reasoning('messages', 'claude'),
            reasoning('responses', 'grok'),
            reasoning('responses', 'gpt'),
            reasoning('responses', ''),
            { t: 'reasoning', text: 'x' },
            'ok',
          ),
        ],
      }),
    )
    const replayed = { type: 'reasoning', summary: [{ type: 'summary_text', text: 's' }], encrypted_content: 'v' }
    expect(input).toEqual([
      replayed,
      replayed,
      { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'ok', annotations: [] }] },
    ])
  })

  it('a summary that another dialect kept as text is sent back with its secret', () => {
    const signature = { dialect: 'responses' as const, modelFamily: 'gpt', value: 'v' }
    const messages = [user('x'), assistant({ t: 'reasoning', text: 'hm', signature }, 'y'), user('z')]
    const reasoning = (source: 'messages' | 'responses') =>
      (encode(request({ source, messages })).input as { type: string }[]).find((item) => item.type === 'reasoning')
    expect(reasoning('messages')).toEqual({
      type: 'reasoning',
      summary: [{ type: 'summary_text', text: 'hm' }],
      encrypted_content: 'v',
    })
    expect(reasoning('responses')).toMatchObject({ summary: [] })
  })

  it('a signature of another vendor is dropped on failover, and the request stays', () => {
    const { input } = encode(
      request({
        messages: [
          assistant(
            { t: 'reasoning', text: 't', signature: { dialect: 'generate_content', modelFamily: 'gemini', value: 'g' } },
            'a',
          ),
        ],
      }),
    )
    expect(input).toHaveLength(1)
  })

  it('encrypted reasoning is requested from models that reason', () => {
    expect(encode(request(), codec({ caps: { family: 'gpt', reasoning: true } })).include).toEqual([
      'reasoning.encrypted_content',
    ])
    expect(encode(request(), codec({ caps: { family: 'gpt', reasoning: false } })).include).toBeUndefined()
    expect(encode(request({ reasoning: { effort: 'high' } })).include).toEqual(['reasoning.encrypted_content'])
  })
})
