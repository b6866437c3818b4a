import { expect, it } from 'vitest'
import type { Message, Part } from '../../../../core/types/request/canonical.ts'
import { assistant, call, encode, result, testHop, tool, user } from './fixtures.ts'

const system = (text: string): Message => ({ role: 'system', parts: [{ t: 'text', text }] })
const text = (value: string) => ({ type: 'text', text: value })
const messagesOf = (messages: Message[], codec = testHop()) =>
  encode({ messages, tools: [{ t: 'function', name: 'f' }] }, codec).messages as { role: string; content: never[] }[]

it('results out of order become one user message in call order, then the text', () => {
  const calls = assistant(call('a'), call('b'), call('c'))
  const messages = messagesOf([
    user('go'),
    calls,
    tool(result('c', '3')),
    tool(result('a', '1')),
    tool(result('b', '2')),
    user('and?'),
  ])
  expect(messages).toHaveLength(3)
  expect(messages[2]).toEqual({
    role: 'user',
    content: [
      { type: 'tool_result', tool_use_id: 'a', content: '1' },
      { type: 'tool_result', tool_use_id: 'b', content: '2' },
      { type: 'tool_result', tool_use_id: 'c', content: '3' },
      text('and?'),
    ],
  })
})

it('a call without a result gets a synthetic error', () => {
  const codec = testHop()
  const messages = messagesOf([user('go'), assistant(call('a'), call('b')), tool(result('a'))], codec)
  expect(messages[2]?.content).toEqual([
    { type: 'tool_result', tool_use_id: 'a', content: 'ok' },
    { type: 'tool_result', tool_use_id: 'b', is_error: true, content: 'No result provided' },
  ])
  expect(codec.warnings).toEqual(['missing_tool_result'])
})

it('a result without a call becomes user text; an empty one is dropped', () => {
  expect(messagesOf([user('go'), tool(result('zz', 'found'))])).toEqual([
    { role: 'user', content: [text('go'), text('Tool result: found')] },
  ])
  expect(messagesOf([user('go'), tool(result('zz', ''))])).toEqual([{ role: 'user', content: [text('go')] }])
})

it('the last of two results for one call counts', () => {
  const messages = messagesOf([user('go'), assistant(call('a')), tool(result('a', '1')), tool(result('a', '2'))])
  expect(messages[2]?.content).toEqual([{ type: 'tool_result', tool_use_id: 'a', content: '2' }])
})

it('empty text blocks are dropped, and a request with only white space is refused', () => {
  const messages = messagesOf([user('go'), assistant(' ', call('a')), tool(result('a', ' '))])
  expect(messages[1]?.content).toEqual([{ type: 'tool_use', id: 'a', name: 'f', input: {} }])
  expect(messages[2]?.content).toEqual([{ type: 'tool_result', tool_use_id: 'a' }])
  expect(() => messagesOf([user('   ')])).toThrow(
    expect.objectContaining({ status: 400, param: 'messages', skip: 'unsupported' }),
  )
})

it('a later system message stays in place', () => {
  const history = [user('one'), assistant('two'), user('three'), system('now'), user('four')]
  expect(messagesOf(history, testHop({ model: 'claude-opus-5' }))).toEqual([
    { role: 'user', content: [text('one')] },
    { role: 'assistant', content: [text('two')] },
    { role: 'user', content: [text('three')] },
    { role: 'system', content: [text('now')] },
    { role: 'user', content: [text('four')] },
  ])
  const reminder = text('<system-reminder>\nnow\n</system-reminder>')
  expect(messagesOf(history)[2]).toEqual({ role: 'user', content: [text('three'), reminder, text('four')] })
  const afterAssistant = messagesOf(
    [user('one'), assistant('two'), system('now'), user('three')],
    testHop({ model: 'claude-opus-5' }),
  )
  expect(afterAssistant[2]).toEqual({ role: 'user', content: [reminder, text('three')] })
})

it.each([
  'claude-sonnet-4-5',
  'claude-opus-5',
])('a system message between calls and results lands after the results (%s)', (model) => {
  const messages = messagesOf([user('go'), assistant(call('a')), system('hurry'), tool(result('a'))], testHop({ model }))
  expect(messages[2]).toEqual({
    role: 'user',
    content: [{ type: 'tool_result', tool_use_id: 'a', content: 'ok' }, text('<system-reminder>\nhurry\n</system-reminder>')],
  })
})

it('the first turn is the user’s, and a prefill stays only if the model accepts it', () => {
  expect(messagesOf([assistant('hello'), user('x')])[0]).toEqual({ role: 'user', content: [text('Continue.')] })
  const prefill = [user('x'), assistant('{ "a": ')]
  expect(messagesOf(prefill).at(-1)).toEqual({ role: 'assistant', content: [text('{ "a":')] })
  const codec = testHop({ model: 'claude-opus-4-8' })
  expect(messagesOf(prefill, codec).at(-1)).toEqual({ role: 'user', content: [text('Continue.')] })
  expect(codec.warnings).toEqual(['dropped_prefill'])
})

it('adjacent turns of one role merge, a refusal is text', () => {
  const refusal: Part = { t: 'refusal', text: 'no' }
  expect(messagesOf([user('a'), user('b'), assistant('c'), assistant(refusal), user('d')])).toEqual([
    { role: 'user', content: [text('a'), text('b')] },
    { role: 'assistant', content: [text('c'), text('no')] },
    { role: 'user', content: [text('d')] },
  ])
})

it.each([
  ['', {}],
  ['null', {}],
  ['[1]', { _raw: '[1]' }],
  ['{bad', { _raw: '{bad' }],
])('arguments %j become an object', (args, input) => {
  const codec = testHop()
  const messages = messagesOf([user('go'), assistant(call('a', 'f', args)), tool(result('a'))], codec)
  expect(messages[1]?.content[0]).toMatchObject({ input })
  expect(codec.warnings).toEqual('_raw' in input ? ['tool_args_wrapped'] : [])
})

it('call ids outside the alphabet are hashed in the same way on call and result', () => {
  const messages = messagesOf([user('go'), assistant(call('call:1/x')), tool(result('call:1/x'))])
  const id = (messages[1]!.content[0] as unknown as { id: string }).id
  expect(id).toMatch(/^toolu_[0-9a-f]{16}$/)
  expect(messages[2]?.content[0]).toMatchObject({ tool_use_id: id })
})

it('thinking is sent only with a signature of this family, at the start of the turn', () => {
  const signed = (modelFamily: string, dialect: 'messages' | 'responses' = 'messages'): Part => ({
    t: 'reasoning',
    text: 'hm',
    signature: { dialect, modelFamily, value: 's' },
  })
  const redacted: Part = {
    t: 'reasoning',
    text: '',
    redacted: 'r',
    encrypted: { dialect: 'messages', modelFamily: 'claude', value: 'r' },
  }
  const unsigned: Part = { t: 'reasoning', text: 'hm' }
  const messages = messagesOf([
    user('x'),
    assistant('answer', signed('kimi'), signed('gpt', 'responses'), unsigned, signed('claude'), redacted),
    user('y'),
  ])
  expect(messages[1]?.content).toEqual([
    { type: 'thinking', thinking: 'hm', signature: 's' },
    { type: 'redacted_thinking', data: 'r' },
    text('answer'),
  ])
  expect(messagesOf([user('x'), assistant(unsigned), user('y')])).toEqual([{ role: 'user', content: [text('x'), text('y')] }])
})

it('SVG is refused, URLs stay, PDFs and text files are documents', () => {
  const image = (src: object): Part => ({ t: 'image', src: src as never })
  expect(() => messagesOf([user(image({ kind: 'base64', mime: 'image/svg+xml', data: 'A' }))])).toThrow(
    expect.objectContaining({ param: 'messages' }),
  )
  for (const uri of ['gs://b/x.png', 'https://generativelanguage.googleapis.com/v1beta/files/abc'])
    expect(() => messagesOf([user(image({ kind: 'uri', uri }))])).toThrow(expect.objectContaining({ status: 400 }))
  expect(() => messagesOf([user(image({ kind: 'file', id: 'file-1' }))])).toThrow(expect.objectContaining({ status: 400 }))
  expect(() => messagesOf([user({ t: 'audio', src: { kind: 'base64', mime: 'audio/wav', data: 'A' }, format: 'wav' })])).toThrow(
    /audio/,
  )
  const documents = messagesOf([
    user(
      image({ kind: 'url', url: 'https://h/x.png' }),
      image({ kind: 'base64', mime: 'image/jpg', data: 'A' }),
      { t: 'document', src: { kind: 'base64', mime: 'application/pdf', data: 'P' }, filename: 'a.pdf' },
      { t: 'document', src: { kind: 'base64', mime: 'text/csv', data: btoa('a,b') } },
    ),
  ])
  expect(documents[0]?.content).toEqual([
    { type: 'image', source: { type: 'url', url: 'https://h/x.png' } },
    { type: 'image', source: { type: 'base64', media_type: 'image/jpeg', data: 'A' } },
    { type: 'document', source: { type: 'base64', media_type: 'application/pdf', data: 'P' }, title: 'a.pdf' },
    { type: 'document', source: { type: 'text', media_type: 'text/plain', data: 'a,b' } },
  ])
  expect(() => messagesOf([user({ t: 'document', src: { kind: 'base64', mime: 'application/zip', data: 'P' } })])).toThrow(
    /application\/zip/,
  )
})

it('images inside results stay there', () => {
  const answered: Part = {
    t: 'tool_result',
    callId: 'a',
    isError: true,
    parts: [
      { t: 'text', text: 'see' },
      { t: 'image', src: { kind: 'base64', mime: 'image/png', data: 'A' } },
    ],
  }
  const messages = messagesOf([user('go'), assistant(call('a')), tool(answered)])
  expect(messages[2]?.content).toEqual([
    {
      type: 'tool_result',
      tool_use_id: 'a',
      is_error: true,
      content: [text('see'), { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'A' } }],
    },
  ])
})
