import { describe, expect, it } from 'vitest'
import type { Part } from '../../../../core/types/request/canonical.ts'
import { assistant, callsOf, codec, encode, PNG, thrown, toolCall, toolResult, user } from './support.ts'

const roles = (messages: { role?: unknown }[]) => messages.map((message) => message.role)
const openai = (model = 'gpt-5.2') => codec({ model, caps: { family: 'gpt', developerRole: true } })

describe('conversations for a chat upstream', () => {
  it('images of results follow all tool messages, together with the text of the user', () => {
    const call = assistant(toolCall('a', 'shot'), toolCall('b', 'shot'))
    const one = encode({ messages: [user('go'), assistant(toolCall('a', 'shot')), toolResult('a', [PNG]), user('and?')] })
    expect(one.messages.slice(2)).toEqual([
      { role: 'tool', tool_call_id: 'a', content: '(image attached in the next message)' },
      {
        role: 'user',
        content: [
          { type: 'image_url', image_url: { url: 'data:image/png;base64,iVBORw0KGgo=' } },
          { type: 'text', text: 'and?' },
        ],
      },
    ])
    const two = encode({ messages: [user('go'), call, toolResult('a', [PNG]), toolResult('b', [{ t: 'text', text: 'x' }, PNG])] })
    expect(roles(two.messages)).toEqual(['user', 'assistant', 'tool', 'tool', 'user'])
    expect(two.messages[3]).toMatchObject({ content: 'x\n(image attached in the next message)' })
    expect(two.messages[4]?.content).toHaveLength(2)
  })

  it('marked system blocks are one string for OpenAI and keep their marks at OpenRouter', () => {
    const system = [
      {
        role: 'system' as const,
        parts: [
          { t: 'text' as const, text: 'a' },
          { t: 'text' as const, text: 'b', cache: { ttl: '1h' as const } },
        ],
      },
      { role: 'system' as const, parts: [{ t: 'text' as const, text: 'c' }] },
    ]
    expect(encode({ system }, openai()).messages[0]).toEqual({ role: 'developer', content: 'a\n\nb\n\nc' })
    expect(encode({ system }, codec({ quirks: { acceptsCacheControl: true } })).messages[0]).toEqual({
      role: 'system',
      content: [
        { type: 'text', text: 'a' },
        { type: 'text', text: 'b', cache_control: { type: 'ephemeral', ttl: '1h' } },
        { type: 'text', text: 'c' },
      ],
    })
    const newest = codec({ caps: { family: 'gpt', cacheBreakpoints: true } })
    expect(encode({ system }, newest).messages[0]?.content).toContainEqual({
      type: 'text',
      text: 'b',
      prompt_cache_breakpoint: { mode: 'explicit' },
    })
  })

  it('system parts of a chat caller are joined by a line break, names stay', () => {
    const { messages } = encode({
      source: 'chat',
      system: [
        {
          role: 'system',
          parts: [
            { t: 'text', text: 'a' },
            { t: 'text', text: 'b' },
          ],
          name: 'n',
        },
      ],
      messages: [{ ...user('hi'), name: 'ann' }, { ...assistant('yo'), name: 'bot' }, user('x')],
    })
    expect(messages).toEqual([
      { role: 'system', content: 'a\nb', name: 'n' },
      { role: 'user', content: 'hi', name: 'ann' },
      { role: 'assistant', content: 'yo', name: 'bot' },
      { role: 'user', content: 'x' },
    ])
  })

  it('a later instruction stays in place; where the template refuses it, it is a reminder of the user', () => {
    const messages = [user('a'), { role: 'system' as const, parts: [{ t: 'text' as const, text: 's' }] }, user('b')]
    expect(roles(encode({ messages }).messages)).toEqual(['user', 'system', 'user'])
    expect(encode({ messages }, codec({ quirks: { systemFirstOnly: true } })).messages[1]).toEqual({
      role: 'user',
      content: '<system-reminder>\ns\n</system-reminder>',
    })
  })

  it('no message comes between calls and their results', () => {
    const { messages } = encode({
      source: 'chat',
      messages: [
        user('x'),
        assistant(toolCall('a', 'f'), toolCall('b', 'f')),
        { role: 'system', parts: [{ t: 'text', text: 's' }] },
        toolResult('b', '2'),
        user('u'),
        toolResult('a', '1'),
      ],
    })
    expect(roles(messages)).toEqual(['user', 'assistant', 'tool', 'tool', 'system', 'user'])
  })

  it('items of one responses turn are one assistant message, reasoning is no message', () => {
    const { messages } = encode({
      source: 'responses',
      messages: [
        user('x'),
        assistant('text'),
        assistant({ t: 'reasoning', text: '', summary: ['s'] }),
        assistant(toolCall('a', 'f', '{"x":1}')),
        assistant(toolCall('b', 'g')),
        toolResult('a', '1'),
        toolResult('b', '2'),
        assistant({ t: 'reasoning', text: 'only' }),
        user('y'),
      ],
    })
    expect(messages).toEqual([
      { role: 'user', content: 'x' },
      {
        role: 'assistant',
        content: 'text',
        tool_calls: [
          { id: 'a', type: 'function', function: { name: 'f', arguments: '{"x":1}' } },
          { id: 'b', type: 'function', function: { name: 'g', arguments: '{}' } },
        ],
      },
      { role: 'tool', tool_call_id: 'a', content: '1' },
      { role: 'tool', tool_call_id: 'b', content: '2' },
      { role: 'user', content: 'y' },
    ])
  })

  it('empty results, failed results and broken pairs are all legal messages', () => {
    const on = codec()
    const { messages } = encode(
      {
        messages: [
          user('x'),
          assistant(toolCall('a', 'f'), toolCall('b', 'f'), toolCall('c', 'f'), toolCall('d', 'f')),
          toolResult('a', ''),
          toolResult('b', 'boom', { isError: true }),
          toolResult('c', 'Error: already', { isError: true }),
          toolResult('zz', 'lost'),
          toolResult('yy', ''),
        ],
      },
      on,
    )
    expect(messages.slice(2)).toEqual([
      { role: 'tool', tool_call_id: 'a', content: '(no output)' },
      { role: 'tool', tool_call_id: 'b', content: 'Error: boom' },
      { role: 'tool', tool_call_id: 'c', content: 'Error: already' },
      { role: 'tool', tool_call_id: 'd', content: 'No result provided' },
      { role: 'user', content: 'Tool result: lost' },
    ])
    expect(on.warnings).toEqual(['missing_tool_result'])
  })

  it('a generate-content response object is its output', () => {
    const result = (json: never) =>
      encode({ messages: [user('x'), assistant(toolCall('a', 'f')), toolResult('a', '', { json })] }).messages[2]?.content
    expect(result({ output: 'x' } as never)).toBe('x')
    expect(result({ a: 1, b: 2 } as never)).toBe('{"a":1,"b":2}')
  })

  it('thoughts are replayed on tool turns only if the provider wants them', () => {
    const messages = [
      user('x'),
      assistant({ t: 'reasoning', text: 'hm' }, toolCall('a', 'f')),
      toolResult('a', '1'),
      assistant({ t: 'reasoning', text: 'no' }, 'done'),
      user('y'),
    ]
    const deepseek = encode({ messages }, codec({ quirks: { replayReasoning: 'reasoning_content' } })).messages
    expect(deepseek[1]).toMatchObject({ content: null, reasoning_content: 'hm' })
    expect(deepseek[3]).toEqual({ role: 'assistant', content: 'done' })
    expect(encode({ messages }, codec({ quirks: { replayReasoning: 'reasoning' } })).messages[1]).toMatchObject({
      reasoning: 'hm',
    })
    expect(JSON.stringify(encode({ messages }, openai()))).not.toContain('hm')
  })

  it('a signature of another vendor is never sent, one of the same family is', () => {
    const signed = (dialect: 'chat' | 'messages', modelFamily: string) =>
      encode(
        {
          source: 'chat',
          messages: [
            user('x'),
            assistant(toolCall('a', 'f', '{}', { signature: { dialect, modelFamily, value: 's' } })),
            toolResult('a', '1'),
          ],
        },
        codec({ caps: { family: 'gemini' } }),
      ).messages[1]
    expect(signed('chat', 'gemini')).toMatchObject({ tool_calls: [{ extra_content: { google: { thought_signature: 's' } } }] })
    expect(signed('chat', '')).toMatchObject({ tool_calls: [{ extra_content: { google: { thought_signature: 's' } } }] })
    expect(JSON.stringify([signed('messages', 'claude'), signed('chat', 'gpt')])).not.toContain('extra_content')
  })

  it('long call ids are hashed in the same way on call and result, and have nine characters for mistral', () => {
    const long = 'x'.repeat(90)
    const messages = [user('x'), assistant(toolCall(long, 'f')), toolResult(long, '1')]
    const ids = (wire: { messages: { [key: string]: unknown }[] }) => [
      callsOf(wire.messages[1])[0]?.id,
      wire.messages[2]?.tool_call_id,
    ]
    const [call, result] = ids(encode({ messages }))
    expect(call).toBe(result)
    expect(call).toMatch(/^call_[0-9a-f]{16}$/)
    const [short, again] = ids(encode({ messages }, codec({ quirks: { toolIds: 'alnum9' } })))
    expect(short).toBe(again)
    expect(short).toMatch(/^[a-zA-Z0-9]{9}$/)
  })

  it('only tool calls: content is null, or empty where the provider wants a string', () => {
    const messages = [user('x'), assistant(toolCall('a', 'f')), toolResult('a', '1')]
    expect(encode({ messages }).messages[1]?.content).toBe(null)
    expect(encode({ messages }, codec({ quirks: { emptyContentForCalls: '' } })).messages[1]?.content).toBe('')
  })

  it('refusals of the history stay refusals for OpenAI and become text elsewhere', () => {
    const messages = [user('x'), assistant({ t: 'refusal', text: 'no' }), user('y')]
    expect(encode({ messages }, openai()).messages[1]).toEqual({ role: 'assistant', content: null, refusal: 'no' })
    expect(encode({ messages }).messages[1]).toEqual({ role: 'assistant', content: 'no' })
  })

  it('documents: text goes inline, a PDF is a file where the provider has it and otherwise refused', () => {
    const pdf: Part = { t: 'document', src: { kind: 'base64', data: 'JVBE', mime: 'application/pdf' }, title: 'Plan' }
    const text: Part = { t: 'document', src: { text: 'body' }, title: 'T', context: 'C' }
    const encoded: Part = {
      t: 'document',
      src: { kind: 'base64', data: Buffer.from('a,b').toString('base64'), mime: 'text/csv' },
      filename: 'x.csv',
    }
    expect(encode({ messages: [user(text, encoded)] }).messages[0]?.content).toBe('T\nC\nbody\nx.csv\na,b')
    expect(encode({ messages: [user(pdf)] }, codec({ quirks: { pdf: true } })).messages[0]?.content).toEqual([
      { type: 'file', file: { filename: 'Plan.pdf', file_data: 'data:application/pdf;base64,JVBE' } },
    ])
    expect(thrown(() => encode({ messages: [user(pdf)] }))).toMatchObject({
      status: 400,
      code: 'unsupported_for_target',
      param: 'messages',
    })
    expect(() =>
      encode({ messages: [user(pdf)] }, codec({ quirks: { pdf: true }, caps: { family: 'gpt', pdfIn: false } })),
    ).toThrow()
  })

  it('files of another provider, remote documents of other dialects, video and odd audio are refused', () => {
    const refused: Part[] = [
      { t: 'document', src: { kind: 'file', id: 'f', provider: 'anthropic' } },
      { t: 'document', src: { kind: 'url', url: 'https://x.test/a.pdf' } },
      { t: 'video', src: { kind: 'url', url: 'https://x.test/a.mp4' } },
      { t: 'audio', src: { kind: 'base64', data: 'AA', mime: 'audio/flac' }, format: 'flac' },
      { t: 'image', src: { kind: 'file', id: 'f' } },
      { t: 'image', src: { kind: 'uri', uri: 'gs://b/a.png' } },
    ]
    for (const part of refused)
      expect(
        thrown(() => encode({ messages: [user(part)] })),
        part.t,
      ).toMatchObject({ code: 'unsupported_for_target' })
    expect(() => encode({ messages: [user(PNG)] }, codec({ caps: { family: 'x', visionIn: false } }))).toThrow()
    expect(() =>
      encode(
        { messages: [user({ t: 'image', src: { kind: 'url', url: 'https://x.test/a' } })] },
        codec({ quirks: { imageUrl: 'inline' } }),
      ),
    ).toThrow()
  })

  it('a conversation of which nothing is left is refused', () => {
    expect(thrown(() => encode({ messages: [user('')] }))).toMatchObject({ status: 400, param: 'messages' })
  })
})
