import { describe, expect, it } from 'vitest'
import { wrapSignature } from '../../../../core/models/signature.ts'
import { decode } from './support.ts'

describe('the conversation of a chat request', () => {
  it('reads all user part types, bare image URLs included', () => {
    const { messages } = decode({
      model: 'm',
      messages: [
        {
          role: 'user',
          content: [
            { type: 'text', text: '' },
            { type: 'text', text: 'look', extra: 1 },
            { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA', detail: 'low' } },
            { type: 'image_url', image_url: 'https://x.test/a.png' },
            { type: 'input_audio', input_audio: { data: 'AAAA', format: 'mp3' } },
            { type: 'file', file: { file_data: 'data:application/pdf;base64,JVBE', filename: 'a.pdf' } },
            { type: 'file', file: { file_id: 'file-1' } },
            { type: 'novel', x: 1 },
          ],
        },
      ],
    })
    expect(messages[0]?.parts).toEqual([
      { t: 'text', text: 'look', ext: { chat: { extra: 1 } } },
      { t: 'image', src: { kind: 'base64', mime: 'image/png', data: 'AAAA' }, detail: 'low' },
      { t: 'image', src: { kind: 'url', url: 'https://x.test/a.png' } },
      { t: 'audio', src: { kind: 'base64', data: 'AAAA', mime: 'audio/mpeg' }, format: 'mp3' },
      {
        t: 'document',
        src: { kind: 'base64', mime: 'application/pdf', data: 'JVBE' },
        mime: 'application/pdf',
        filename: 'a.pdf',
      },
      { t: 'document', src: { kind: 'file', id: 'file-1' } },
      { t: 'opaque', dialect: 'chat', raw: { type: 'novel', x: 1 } },
    ])
  })

  it('reads an assistant turn: reasoning once, content, refusal, calls with raw arguments', () => {
    const envelope = wrapSignature({ dialect: 'generate_content', modelFamily: 'gemini', value: 'sig' })
    const { messages } = decode({
      model: 'm',
      messages: [
        { role: 'user', content: 'x' },
        {
          role: 'assistant',
          content: [
            { type: 'text', text: 'a' },
            { type: 'refusal', refusal: 'no' },
          ],
          reasoning_content: 'think',
          reasoning: 'think',
          tool_calls: [
            {
              id: 'c1',
              type: 'function',
              function: { name: 'f', arguments: '{"id":12345678901234567890}' },
              extra_content: { google: { thought_signature: envelope } },
            },
            {
              id: 'c2',
              type: 'custom',
              custom: { name: 'patch', input: 'free' },
              extra_content: { google: { thought_signature: 'own' } },
            },
          ],
        },
        { role: 'tool', tool_call_id: 'c1', content: [{ type: 'text', text: 'r' }] },
      ],
    })
    expect(messages[1]?.parts).toEqual([
      { t: 'reasoning', text: 'think' },
      { t: 'text', text: 'a' },
      { t: 'refusal', text: 'no' },
      {
        t: 'tool_call',
        id: 'c1',
        idMinted: false,
        kind: 'function',
        name: 'f',
        args: '{"id":12345678901234567890}',
        signature: { dialect: 'generate_content', modelFamily: 'gemini', value: 'sig' },
      },
      {
        t: 'tool_call',
        id: 'c2',
        idMinted: false,
        kind: 'custom',
        name: 'patch',
        args: 'free',
        signature: { dialect: 'chat', modelFamily: '', value: 'own' },
      },
    ])
    expect(messages[2]).toEqual({
      role: 'tool',
      parts: [{ t: 'tool_result', callId: 'c1', name: 'f', parts: [{ t: 'text', text: 'r' }] }],
    })
  })

  it('arguments sent as an object keep the digits of big numbers', () => {
    const { messages } = decode(
      '{"model":"m","messages":[{"role":"user","content":"x"},{"role":"assistant","tool_calls":[{"id":"c","type":"function","function":{"name":"f","arguments":{"id":12345678901234567890}}}]}]}',
    )
    expect(messages[1]?.parts[0]).toMatchObject({ args: '{"id":12345678901234567890}' })
  })

  it('pairs legacy functions by name and mints ids', () => {
    const canonical = decode({
      model: 'm',
      messages: [
        { role: 'user', content: 'x' },
        { role: 'assistant', content: null, function_call: { name: 'f', arguments: '{}' } },
        { role: 'function', name: 'f', content: 'r' },
      ],
      functions: [{ name: 'f', parameters: { type: 'object' } }],
      function_call: { name: 'f' },
    })
    const call = canonical.messages[1]?.parts[0]
    expect(call).toMatchObject({ t: 'tool_call', name: 'f', idMinted: true })
    expect(call?.t === 'tool_call' && call.id).toMatch(/^call_[A-Za-z0-9]{24}$/)
    expect(canonical.messages[2]?.parts[0]).toMatchObject({ callId: call?.t === 'tool_call' ? call.id : '', name: 'f' })
    expect(canonical.toolChoice).toEqual({ mode: 'tool', name: 'f' })
    expect(canonical.tools).toEqual([{ t: 'function', name: 'f', schema: { type: 'object' } }])
  })

  it('an assistant turn with mistral thinking parts is reasoning and text', () => {
    const { messages } = decode({
      model: 'm',
      messages: [
        { role: 'user', content: 'x' },
        {
          role: 'assistant',
          content: [
            { type: 'thinking', thinking: [{ type: 'text', text: 'hm' }] },
            { type: 'text', text: 'a' },
          ],
        },
      ],
    })
    expect(messages[1]?.parts).toEqual([
      { t: 'reasoning', text: 'hm' },
      { t: 'text', text: 'a' },
    ])
  })

  it('leading instructions are apart, later ones stay in place', () => {
    const { system, messages } = decode({
      model: 'm',
      messages: [
        { role: 'system', content: 'a', name: 'boss' },
        { role: 'developer', content: [{ type: 'text', text: 'b', cache_control: { type: 'ephemeral', ttl: '1h' } }] },
        { role: 'user', content: 'x' },
        { role: 'system', content: 'c' },
      ],
    })
    expect(system).toEqual([
      { role: 'system', parts: [{ t: 'text', text: 'a' }], name: 'boss' },
      { role: 'developer', parts: [{ t: 'text', text: 'b', cache: { ttl: '1h' } }] },
    ])
    expect(messages.map((message) => message.role)).toEqual(['user', 'system'])
  })
})

it('a cache mark of a message is the mark of its last part, its life included', () => {
  const mark = (ttl?: string) => ({ type: 'ephemeral', ...(ttl === undefined ? {} : { ttl }) })
  for (const ttl of ['5m', '1h', undefined]) {
    const cache = ttl === undefined ? {} : { ttl }
    const call = { id: 'c', type: 'function', function: { name: 'f', arguments: '{}' } }
    const { system, messages } = decode({
      model: 'm',
      messages: [
        { role: 'system', content: 'S', cache_control: mark(ttl) },
        {
          role: 'user',
          content: [
            { type: 'text', text: 'A' },
            { type: 'text', text: 'B' },
          ],
          cache_control: mark(ttl),
        },
        { role: 'assistant', content: null, tool_calls: [call] },
        { role: 'tool', tool_call_id: 'c', content: 'R', cache_control: mark(ttl) },
        { role: 'user', content: [{ type: 'text', text: 'own', cache_control: mark('5m') }], cache_control: mark('1h') },
      ],
    })
    expect(system[0]?.parts).toEqual([{ t: 'text', text: 'S', cache }])
    expect(messages[0]?.parts).toEqual([
      { t: 'text', text: 'A' },
      { t: 'text', text: 'B', cache },
    ])
    expect(messages[2]?.parts).toMatchObject([{ t: 'tool_result', cache }])
    expect(messages[3]?.parts).toEqual([{ t: 'text', text: 'own', cache: { ttl: '5m' } }])
  }
})
