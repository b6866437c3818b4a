import { expect, it } from 'vitest'
import { messagesDialect } from '../../../../adapters/dialects/messages/index.ts'
import { wireBody } from '../../../../core/json/wire-body.ts'
import type { CanonicalRequest, Tool } from '../../../../core/types/request/canonical.ts'
import { assistant, call, encode, result, testHop, tool, user } from './fixtures.ts'

const fn = (name: string, more: object = {}): Tool => ({ t: 'function', name, ...more })
const ab: Tool[] = [fn('a'), fn('b')]
const names = (body: { tools?: unknown }) => (body.tools as { name: string }[]).map(({ name }) => name)

it('tool names are sanitised, stay distinct, and are restored', () => {
  const codec = testHop()
  const body = encode({ tools: [fn('a.b/c d'), fn('a_b/c d')] }, codec)
  const [first, second] = names(body) as [string, string]
  expect(first).toBe('a_b_c_d')
  expect(second).toMatch(/^[a-zA-Z0-9_-]{1,128}$/)
  expect(second).not.toBe(first)
  const answer = {
    type: 'message',
    id: 'msg_1',
    content: [first, second].map((name) => ({ type: 'tool_use', id: 'x', name, input: {} })),
    stop_reason: 'tool_use',
  }
  const parts = messagesDialect.decodeResponse(wireBody(JSON.stringify(answer)), codec).choices[0]?.parts
  expect(parts).toMatchObject([{ name: 'a.b/c d' }, { name: 'a_b/c d' }])
})

it('a tool without parameters has an empty object schema', () => {
  expect(encode({ tools: ab }).tools).toEqual([
    { name: 'a', input_schema: { type: 'object', properties: {} } },
    { name: 'b', input_schema: { type: 'object', properties: {} } },
  ])
})

it('parallel_tool_calls: false sets a tool choice, and nothing without tools', () => {
  expect(encode({ tools: ab, parallelToolCalls: false }).tool_choice).toEqual({ type: 'auto', disable_parallel_tool_use: true })
  expect(encode({ tools: ab, parallelToolCalls: true })).not.toHaveProperty('tool_choice')
  expect(encode({ parallelToolCalls: false })).not.toHaveProperty('tool_choice')
  expect(encode({ tools: ab, toolChoice: { mode: 'none' }, parallelToolCalls: false }).tool_choice).toEqual({ type: 'none' })
})

it('allowed tools filter the list, and a filter that leaves none keeps all', () => {
  const filtered = encode({ tools: ab, toolChoice: { mode: 'allowed', base: 'auto', names: ['a'] } })
  expect(names(filtered)).toEqual(['a'])
  expect(filtered.tool_choice).toEqual({ type: 'auto' })
  const unknown = encode({ tools: ab, toolChoice: { mode: 'allowed', base: 'required', names: ['z'] } })
  expect(names(unknown)).toEqual(['a', 'b'])
  expect(unknown.tool_choice).toEqual({ type: 'any' })
})

it('a tool choice without tools is removed', () => {
  const body = encode({ tools: [], toolChoice: { mode: 'required' } })
  expect(body).not.toHaveProperty('tools')
  expect(body).not.toHaveProperty('tool_choice')
})

it('a history with calls declares their names and allows no new calls', () => {
  const body = encode({
    messages: [user('x'), assistant(call('1', 'look'), call('2', 'look')), tool(result('1')), tool(result('2')), user('y')],
  })
  expect(body.tools).toEqual([{ name: 'look', input_schema: { type: 'object', properties: {} } }])
  expect(body.tool_choice).toEqual({ type: 'none' })
})

it('strict stays if the model supports it', () => {
  const schema = { type: 'object', properties: { n: { type: 'integer', minimum: 1 } }, required: ['n'] }
  const [strict] = encode({ tools: [fn('a', { strict: true, schema })] }).tools as [{ strict: boolean; input_schema: object }]
  expect(strict).toMatchObject({ strict: true, input_schema: { additionalProperties: false } })
  expect(JSON.stringify(strict.input_schema)).not.toContain('"minimum"')
  expect((encode({ tools: [fn('a', { strict: false, schema })] }).tools as object[])[0]).toEqual({
    name: 'a',
    input_schema: schema,
  })
})

it('a codex request is accepted: custom and namespaced tools are functions, the rest is dropped', () => {
  const codec = testHop({ caller: 'responses' })
  const server = (kind: string): Tool => ({ t: 'server', dialect: 'responses', kind, raw: { type: kind } })
  const tools: Tool[] = [
    server('local_shell'),
    server('web_search'),
    server('tool_search'),
    { t: 'custom', name: 'apply_patch', description: 'Patches.', format: { type: 'grammar', syntax: 'lark', definition: 'x' } },
    { t: 'namespace', name: 'fs', description: '', tools: [fn('read')] },
  ]
  const body = encode({ source: 'responses', tools, webSearch: { userLocation: { type: 'approximate', city: 'Rome' } } }, codec)
  expect(names(body)).toEqual(['apply_patch', 'fs__read', 'web_search'])
  expect((body.tools as object[])[2]).toEqual({
    type: 'web_search_20250305',
    name: 'web_search',
    user_location: { type: 'approximate', city: 'Rome' },
  })
  expect(codec.warnings).toEqual(['dropped_tool', 'dropped_tool'])
  const content = [
    { type: 'tool_use', id: '1', name: 'apply_patch', input: { input: '*** Begin' } },
    { type: 'tool_use', id: '2', name: 'fs__read', input: {} },
  ]
  const answer = messagesDialect.decodeResponse(wireBody(JSON.stringify({ content, stop_reason: 'tool_use' })), codec)
  expect(answer.choices[0]?.parts).toMatchObject([
    { kind: 'custom', name: 'apply_patch', args: '*** Begin' },
    { kind: 'function', name: 'read', namespace: 'fs' },
  ])
})

it('custom calls of the history are wrapped once, bare or not', () => {
  const custom = (args: string) => ({ ...call('1', 'p', args), kind: 'custom' }) as never
  for (const args of ['*** Begin', '{"input":"*** Begin"}']) {
    const body = encode({
      tools: [{ t: 'custom', name: 'p' }],
      messages: [user('x'), assistant(custom(args)), tool(result('1'))],
    })
    expect(body.messages).toMatchObject([{}, { content: [{ input: { input: '*** Begin' } }] }, {}])
  }
})

it('a tool choice that cannot be met is refused', () => {
  const forced =
    (toolChoice: CanonicalRequest['toolChoice'], tools = ab) =>
    () =>
      encode({ tools, toolChoice })
  expect(forced({ mode: 'tool', name: 'gone' })).toThrow(
    expect.objectContaining({ param: 'tool_choice', code: 'unsupported_for_target' }),
  )
  expect(forced({ mode: 'server', raw: { type: 'mcp' } })).toThrow(expect.objectContaining({ param: 'tool_choice' }))
  expect(encode({ tools: ab, toolChoice: { mode: 'tool', name: 'b' } }).tool_choice).toEqual({ type: 'tool', name: 'b' })
})

it('own typed tools and tool extras go back as they came', () => {
  const bash = { type: 'bash_20250124', name: 'bash' }
  const tools: Tool[] = [
    { t: 'server', dialect: 'messages', kind: bash.type, raw: bash },
    fn('f', {
      schema: { oneOf: [] },
      deferLoading: true,
      cache: { ttl: '1h' },
      ext: { messages: { eager_input_streaming: true } },
    }),
  ]
  const body = encode({ source: 'messages', tools, toolChoice: { mode: 'server', raw: { type: 'tool', name: 'bash' } } })
  expect(body.tools).toEqual([
    {
      eager_input_streaming: true,
      name: 'f',
      input_schema: { oneOf: [] },
      defer_loading: true,
      cache_control: { type: 'ephemeral', ttl: '1h' },
    },
    bash,
  ])
  expect(body.tool_choice).toEqual({ type: 'tool', name: 'bash' })
})

it('alternatives at the root become one object, the schema itself stays as it is', () => {
  const schema = {
    $schema: 'x',
    $defs: { B: { type: 'object', properties: { b: { type: 'string' }, k: { const: 2 } }, required: ['b', 'k'] } },
    anyOf: [
      { type: 'object', properties: { a: { type: 'number' }, k: { const: 1 } }, required: ['a', 'k'] },
      { $ref: '#/$defs/B' },
    ],
  }
  const [encoded] = encode({ tools: [fn('f', { schema })] }).tools as [{ input_schema: object }]
  expect(encoded.input_schema).toEqual({
    $defs: schema.$defs,
    type: 'object',
    properties: { a: { type: 'number' }, b: { type: 'string' }, k: { anyOf: [{ const: 1 }, { const: 2 }] } },
    required: ['k'],
  })
})
