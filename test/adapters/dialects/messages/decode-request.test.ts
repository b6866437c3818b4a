import { expect, it } from 'vitest'
import { decode } from './fixtures.ts'

const base = { model: 'anthropic/claude-sonnet-4-5', max_tokens: 10, messages: [{ role: 'user', content: 'Hi' }] }

it('reads a minimal request; a missing max_tokens is absent, null is absence', () => {
  const request = decode({
    model: 'm',
    messages: [{ role: 'user', content: 'Hi' }],
    temperature: null,
    tools: null,
    stop_sequences: null,
  })
  expect(request).toMatchObject({
    source: 'messages',
    stream: false,
    messages: [{ role: 'user', parts: [{ t: 'text', text: 'Hi' }] }],
    sampling: {},
    tools: [],
  })
  expect(request).not.toHaveProperty('maxTokens')
  expect(request).not.toHaveProperty('stop')
})

it('splits a user turn with results into a tool message and the rest, and looks up the names', () => {
  const { messages } = decode({
    ...base,
    messages: [
      { role: 'assistant', content: [{ type: 'tool_use', id: 'toolu_1', name: 'f', input: { a: 1 } }] },
      {
        role: 'user',
        content: [
          { type: 'text', text: 'before' },
          { type: 'tool_result', tool_use_id: 'toolu_1', is_error: true, content: [{ type: 'text', text: 'no' }] },
          { type: 'tool_result', tool_use_id: 'toolu_1' },
        ],
      },
    ],
  })
  expect(messages.map(({ role }) => role)).toEqual(['assistant', 'tool', 'user'])
  expect(messages[1]?.parts).toEqual([
    { t: 'tool_result', callId: 'toolu_1', name: 'f', isError: true, parts: [{ t: 'text', text: 'no' }] },
    { t: 'tool_result', callId: 'toolu_1', name: 'f', parts: [] },
  ])
})

it('big numbers in a tool input keep their digits', () => {
  const body = `{"model":"m","messages":[{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"f","input":{"id":12345678901234567890}}]}]}`
  expect(decode(body).messages[0]?.parts[0]).toMatchObject({ args: '{"id":12345678901234567890}' })
})

it('mints an id for a call without one', () => {
  const part = decode({ ...base, messages: [{ role: 'assistant', content: [{ type: 'tool_use', name: 'f', input: {} }] }] })
    .messages[0]?.parts[0]
  expect(part).toMatchObject({ idMinted: true, args: '{}', id: expect.stringMatching(/^toolu_/) })
})

it('keeps system blocks with their cache marks, and mid-conversation system messages in place', () => {
  const request = decode({
    ...base,
    system: [
      { type: 'text', text: 'a', cache_control: { type: 'ephemeral', ttl: '1h' } },
      { type: 'text', text: 'b' },
    ],
    messages: [
      { role: 'user', content: 'x' },
      { role: 'system', content: 'now' },
      { role: 'user', content: 'y' },
    ],
  })
  expect(request.system).toEqual([
    {
      role: 'system',
      parts: [
        { t: 'text', text: 'a', cache: { ttl: '1h' } },
        { t: 'text', text: 'b' },
      ],
    },
  ])
  expect(request.messages.map(({ role }) => role)).toEqual(['user', 'system', 'user'])
})

it('reads thinking, redacted thinking, server items and unknown blocks', () => {
  const server = { type: 'server_tool_use', id: 's', name: 'web_search', input: {} }
  const unknown = { type: 'compaction', content: 'x' }
  const { messages } = decode({
    ...base,
    messages: [
      {
        role: 'assistant',
        content: [
          { type: 'thinking', thinking: 't', signature: 'sig' },
          { type: 'thinking', thinking: '', signature: 'Z2lm' },
          { type: 'redacted_thinking', data: 'xx' },
          server,
          unknown,
        ],
      },
    ],
  })
  const own = { dialect: 'messages', modelFamily: '' }
  expect(messages[0]?.parts).toEqual([
    { t: 'reasoning', text: 't', signature: { ...own, value: 'sig' } },
    { t: 'reasoning', text: '', signature: { ...own, value: 'Z2lm' }, display: 'omitted' },
    { t: 'reasoning', text: '', redacted: 'xx', encrypted: { ...own, value: 'xx' } },
    { t: 'server_tool', dialect: 'messages', kind: 'server_tool_use', raw: server },
    { t: 'opaque', dialect: 'messages', raw: unknown },
  ])
})

it('reads images, documents and search results', () => {
  const { messages } = decode({
    ...base,
    messages: [
      {
        role: 'user',
        content: [
          { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AA==' } },
          { type: 'image', source: { type: 'url', url: 'https://x/y.png' } },
          {
            type: 'document',
            source: { type: 'text', media_type: 'text/plain', data: 'doc' },
            title: 'T',
            citations: { enabled: true },
          },
          { type: 'search_result', source: 'https://s', title: 'S', content: [{ type: 'text', text: 'found' }] },
        ],
      },
    ],
  })
  expect(messages[0]?.parts).toEqual([
    { t: 'image', src: { kind: 'base64', data: 'AA==', mime: 'image/png' } },
    { t: 'image', src: { kind: 'url', url: 'https://x/y.png' } },
    { t: 'document', src: { text: 'doc' }, mime: 'text/plain', title: 'T', citations: true },
    {
      t: 'document',
      src: { parts: [{ t: 'text', text: 'found' }] },
      title: 'S',
      context: 'https://s',
      ext: { messages: { type: 'search_result', source: 'https://s' } },
    },
  ])
})

it('reads tools, typed tools and choices', () => {
  const bash = { type: 'bash_20250124', name: 'bash' }
  const request = decode({
    ...base,
    tools: [
      {
        name: 'f',
        description: 'd',
        input_schema: { type: 'object' },
        strict: true,
        defer_loading: true,
        input_examples: [{}],
        cache_control: { type: 'ephemeral' },
      },
      bash,
      { type: 'web_search_20250305', name: 'web_search', allowed_domains: ['a.b'], max_uses: 2 },
    ],
    tool_choice: { type: 'any', disable_parallel_tool_use: true },
  })
  expect(request.tools).toMatchObject([
    { t: 'function', name: 'f', strict: true, deferLoading: true, cache: {}, ext: { messages: { input_examples: [{}] } } },
    { t: 'server', dialect: 'messages', kind: 'bash_20250124', raw: bash },
    { t: 'server', kind: 'web_search_20250305' },
  ])
  expect(request.webSearch).toEqual({ allowedDomains: ['a.b'], maxUses: 2 })
  expect(request.toolChoice).toEqual({ mode: 'required' })
  expect(request.parallelToolCalls).toBe(false)
  expect(decode({ ...base, tools: [bash], tool_choice: { type: 'tool', name: 'bash' } }).toolChoice).toMatchObject({
    mode: 'server',
  })
})

it('reads thinking and output configuration, and keeps what it does not know', () => {
  const request = decode(
    {
      ...base,
      thinking: { type: 'enabled', budget_tokens: 2048, display: 'omitted' },
      output_config: { effort: 'high', format: { type: 'json_schema', schema: { type: 'object' } }, task_budget: 5 },
      metadata: { user_id: 'u' },
      service_tier: 'standard_only',
      context_management: { edits: [] },
      diagnostics: { x: 1 },
      cache_control: { type: 'ephemeral' },
      mcp_servers: [],
      top_k: 5,
    },
    ['anthropic-version', '2026-10-21', 'anthropic-beta', 'a, b'],
  )
  expect(request.reasoning).toEqual({ mode: 'enabled', budgetTokens: 2048, summary: 'omitted', effort: 'high' })
  expect(request.output).toEqual({ kind: 'json_schema', schema: { type: 'object' } })
  expect(request.ext.messages).toEqual({ diagnostics: { x: 1 }, mcp_servers: [], output_config: { task_budget: 5 } })
  expect(request).toMatchObject({
    endUser: 'u',
    serviceTier: 'standard_only',
    cache: { auto: {} },
    state: { contextManagement: { edits: [] } },
  })
  expect(request.sampling).toEqual({ topK: 5 })
  expect(request.headers).toEqual({ anthropicVersion: '2026-10-21', anthropicBeta: ['a', 'b'] })
})

it.each([
  [{ ...base, messages: 'x' }, 'messages'],
  [{ ...base, max_tokens: '10' }, 'max_tokens'],
  [{ ...base, messages: [{ role: 'bot', content: 'x' }] }, 'messages.0.role'],
  [{ ...base, messages: [{ role: 'user', content: [{ type: 'text', text: 1 }] }] }, 'messages.0.content.0.text'],
  [{ ...base, thinking: { type: 'hard' } }, 'thinking.type'],
])('a wrong type is a 400 that names the field (%#)', (body, param) => {
  expect(() => decode(body)).toThrow(expect.objectContaining({ status: 400, param }))
})

it('a count_tokens body needs neither max_tokens nor stream', () => {
  expect(decode({ model: 'm', messages: base.messages }, [], 'count_tokens')).toMatchObject({ stream: false, model: 'm' })
})
