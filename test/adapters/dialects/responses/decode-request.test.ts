import { describe, expect, it } from 'vitest'
import { wrapSignature } from '../../../../core/models/signature.ts'
import { decode } from './support.ts'

const foreign = wrapSignature({ dialect: 'messages', modelFamily: 'claude', value: 'sig==' })

describe('responses: decoding a request', () => {
  it('takes a plain string as one user message and instructions as the first system block', () => {
    const request = decode({ model: 'a/b', input: 'hello', instructions: 'Be brief.', stream: true })
    expect(request).toMatchObject({ model: 'a/b', stream: true, source: 'responses' })
    expect(request.system).toMatchObject([{ role: 'system', parts: [{ t: 'text', text: 'Be brief.' }] }])
    expect(request.messages).toEqual([{ role: 'user', parts: [{ t: 'text', text: 'hello' }] }])
  })

  it('keeps leading instructions apart from those in mid-conversation', () => {
    const request = decode({
      model: 'm',
      input: [
        { role: 'developer', content: 'first' },
        { role: 'user', content: 'hi' },
        { role: 'system', content: [{ type: 'input_text', text: 'later' }] },
      ],
    })
    expect(request.system).toEqual([{ role: 'developer', parts: [{ t: 'text', text: 'first' }] }])
    expect(request.messages.map((message) => message.role)).toEqual(['user', 'system'])
  })

  it('items of one turn are one assistant message, outputs following each other one tool message', () => {
    const request = decode({
      model: 'm',
      input: [
        { role: 'user', content: 'go' },
        {
          type: 'message',
          id: 'msg_1',
          role: 'assistant',
          phase: 'commentary',
          status: 'completed',
          content: [{ type: 'output_text', text: 'Looking.', annotations: [] }],
        },
        { type: 'reasoning', id: 'rs_1', summary: [{ type: 'summary_text', text: 'hm' }], encrypted_content: 'abc' },
        { type: 'function_call', id: 'fc_1', call_id: 'c1', name: 'f', arguments: '{"a":1}' },
        { type: 'function_call', call_id: 'c2', name: 'g', arguments: '{}', namespace: 'ns' },
        { type: 'function_call_output', call_id: 'c1', output: 'one' },
        {
          type: 'function_call_output',
          call_id: 'c2',
          output: [
            { type: 'input_text', text: 'two' },
            { type: 'input_image', image_url: 'data:image/png;base64,QUJD' },
          ],
        },
        { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'Done.' }] },
        { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'Really.' }] },
      ],
    })
    expect(request.messages.map((message) => message.role)).toEqual(['user', 'assistant', 'tool', 'assistant', 'assistant'])
    expect(request.messages[1]).toMatchObject({ id: 'msg_1', phase: 'commentary', status: 'completed' })
    expect(request.messages[1]?.parts).toMatchObject([
      { t: 'text', text: 'Looking.' },
      {
        t: 'reasoning',
        text: '',
        summary: ['hm'],
        itemId: 'rs_1',
        signature: { dialect: 'responses', modelFamily: '', value: 'abc' },
      },
      { t: 'tool_call', id: 'c1', name: 'f', args: '{"a":1}', kind: 'function', itemId: 'fc_1' },
      { t: 'tool_call', id: 'c2', name: 'g', namespace: 'ns' },
    ])
    expect(request.messages[2]?.parts).toMatchObject([
      { t: 'tool_result', callId: 'c1', name: 'f', parts: [{ t: 'text', text: 'one' }] },
      {
        t: 'tool_result',
        callId: 'c2',
        name: 'g',
        parts: [{ t: 'text' }, { t: 'image', src: { kind: 'base64', mime: 'image/png', data: 'QUJD' } }],
      },
    ])
  })

  it('a missing strict is true only if the schema can be strict', () => {
    const schema = { type: 'object', properties: { a: { type: 'string' } }, required: ['a'], additionalProperties: false }
    const tool = (parameters: object, strict?: boolean | null) => ({
      type: 'function',
      name: 'f',
      parameters,
      ...(strict === undefined ? {} : { strict }),
    })
    const tools = [
      tool(schema),
      tool({ type: 'object', properties: { a: {} } }),
      tool(schema, false),
      tool({ type: 'object' }, true),
      tool(schema, null),
    ]
    expect(decode({ model: 'm', input: 'x', tools }).tools).toMatchObject([
      { strict: true },
      { strict: false },
      { strict: false },
      { strict: true },
      { strict: true },
    ])
  })

  it('everything Codex sends is accepted', () => {
    const request = decode({
      model: 'gpt-5.6-codex',
      instructions: 'You are Codex.',
      input: [
        { type: 'message', role: 'developer', content: [{ type: 'input_text', text: '<permissions/>' }] },
        { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'fix it' }] },
        { type: 'reasoning', summary: [], content: null, encrypted_content: 'gAAAA' },
        { type: 'local_shell_call', call_id: 's1', status: 'completed', action: { type: 'exec', command: ['ls'] } },
        { type: 'local_shell_call_output', id: 's1', output: '{}' },
        { type: 'custom_tool_call', status: 'completed', call_id: 'p1', name: 'apply_patch', input: '*** Begin Patch' },
        { type: 'custom_tool_call_output', call_id: 'p1', output: 'ok' },
        { type: 'tool_search_call', call_id: 't1', execution: 'client', status: 'completed', arguments: { query: 'x' } },
        { type: 'tool_search_output', call_id: 't1', execution: 'client', status: 'completed', tools: [] },
        { type: 'web_search_call', id: 'ws_1', status: 'completed', action: { type: 'search', query: 'q' } },
        { type: 'compaction', encrypted_content: 'zzz' },
        { type: 'ghost_snapshot', ghost_commit: {} },
        { type: 'something_new', a: 1 },
      ],
      tools: [
        { type: 'function', name: 'shell', description: 'Runs', strict: false, parameters: { type: 'object', properties: {} } },
        { type: 'local_shell' },
        { type: 'web_search', external_web_access: true, filters: { allowed_domains: ['a.com'] }, search_context_size: 'low' },
        {
          type: 'custom',
          name: 'apply_patch',
          description: 'Patch',
          format: { type: 'grammar', syntax: 'lark', definition: 'x' },
        },
        {
          type: 'namespace',
          name: 'mcp',
          description: 'tools',
          tools: [{ type: 'function', name: 'go', parameters: null, strict: null, defer_loading: true }],
        },
        { type: 'tool_search', execution: 'client' },
      ],
      tool_choice: 'auto',
      parallel_tool_calls: false,
      reasoning: { effort: 'xhigh', summary: 'auto', context: 'all' },
      store: false,
      stream: true,
      include: ['reasoning.encrypted_content'],
      service_tier: null,
      prompt_cache_key: 'k',
      text: { verbosity: 'low' },
      client_metadata: { a: 'b' },
    })
    expect(request.tools.map((tool) => tool.t)).toEqual(['function', 'server', 'server', 'custom', 'namespace', 'server'])
    expect(request.webSearch).toEqual({ contextSize: 'low', allowedDomains: ['a.com'] })
    expect(request.reasoning).toEqual({ effort: 'xhigh', summary: 'auto', encrypted: true })
    expect(request.ext.responses).toEqual({
      include: ['reasoning.encrypted_content'],
      reasoning: { context: 'all' },
      client_metadata: { a: 'b' },
    })
    expect(request).toMatchObject({ parallelToolCalls: false, verbosity: 'low', cache: { key: 'k' }, state: { store: false } })
    const parts = request.messages.flatMap((message) => message.parts)
    expect(parts.find((part) => part.t === 'tool_call')).toMatchObject({ kind: 'custom', args: '*** Begin Patch' })
    expect(parts.filter((part) => part.t === 'server_tool')).toHaveLength(6)
    expect(parts.filter((part) => part.t === 'opaque')).toHaveLength(2)
  })

  it('state is decoded, and the target accepts or refuses it', () => {
    const request = decode({
      model: 'm',
      input: 'x',
      previous_response_id: 'resp_1',
      conversation: 'conv_1',
      background: true,
      prompt: { id: 'p' },
      truncation: 'auto',
      store: true,
    })
    expect(request.state).toEqual({
      previousResponseId: 'resp_1',
      conversation: 'conv_1',
      background: true,
      promptTemplate: { id: 'p' },
      truncation: 'auto',
      store: true,
    })
    expect(decode({ model: 'm', input: 'x', background: false }).state).toBeUndefined()
  })

  it('null options equal absent ones', () => {
    const request = decode({
      model: 'm',
      input: 'x',
      temperature: null,
      max_output_tokens: null,
      tools: null,
      tool_choice: null,
      reasoning: null,
      text: null,
      metadata: null,
      user: null,
    })
    expect(request).toEqual(decode({ model: 'm', input: 'x' }))
  })

  it('unwraps our envelope and gives a carried signature back to its call', () => {
    const carrier = wrapSignature({ dialect: 'generate_content', modelFamily: 'gemini', value: 'gsig' })
    const redacted = wrapSignature({ dialect: 'messages', modelFamily: 'claude', value: 'redacted:blob' })
    const { messages } = decode({
      model: 'm',
      input: [
        { type: 'reasoning', summary: [{ type: 'summary_text', text: 'x' }], encrypted_content: foreign },
        { type: 'reasoning', summary: [], encrypted_content: redacted },
        { type: 'reasoning', summary: [], encrypted_content: carrier },
        { type: 'function_call', call_id: 'a', name: 'f', arguments: '{}' },
        { type: 'reasoning', summary: [], encrypted_content: carrier },
        { role: 'user', content: 'hi' },
      ],
    })
    expect(messages[0]?.parts).toMatchObject([
      { t: 'reasoning', signature: { dialect: 'messages', modelFamily: 'claude', value: 'sig==' } },
      { t: 'reasoning', redacted: 'blob', encrypted: { dialect: 'messages', modelFamily: 'claude', value: 'blob' } },
      { t: 'tool_call', signature: { dialect: 'generate_content', value: 'gsig' } },
      { t: 'reasoning', signature: { dialect: 'generate_content', value: 'gsig' } },
    ])
  })

  it('arguments sent as an object keep every digit', () => {
    const { messages } = decode(
      '{"model":"m","input":[{"type":"function_call","call_id":"a","name":"f","arguments":{"id":12345678901234567890}}]}',
    )
    expect(messages[0]?.parts[0]).toMatchObject({ args: '{"id":12345678901234567890}' })
  })
})
