import { describe, expect, it } from 'vitest'
import { assistant, call, codec, decode, driver, encode, freeze, request, result, user } from './support.ts'

const strictSchema = { type: 'object', properties: { a: { type: 'string' } }, required: ['a'], additionalProperties: false }
const rejects = (run: () => unknown, param: string) =>
  expect(run).toThrow(expect.objectContaining({ status: 400, code: 'unsupported_for_target', param, skip: 'unsupported' }))

describe('responses: encoding tools and options', () => {
  it('strict is explicit and stays if the schema can be strict', () => {
    const tool = (strict: boolean | undefined, schema: object) => ({
      t: 'function' as const,
      name: 'f',
      schema: schema as never,
      ...(strict === undefined ? {} : { strict }),
    })
    const { tools } = encode(
      request({
        source: 'messages',
        tools: [tool(true, strictSchema), tool(true, { type: 'object', properties: { a: {} } }), tool(undefined, strictSchema)],
      }),
    )
    expect(tools.map((one: { strict: boolean }) => one.strict)).toEqual([true, false, false])
  })

  it('tool_choice without tools is removed, also when every tool was dropped', () => {
    const at = codec()
    const body = encode(
      request({
        source: 'messages',
        tools: [{ t: 'server', dialect: 'messages', kind: 'bash_20250124', raw: { type: 'bash_20250124', name: 'bash' } }],
        toolChoice: { mode: 'auto' },
        parallelToolCalls: false,
      }),
      at,
    )
    expect(body).not.toHaveProperty('tools')
    expect(body).not.toHaveProperty('tool_choice')
    expect(body).not.toHaveProperty('parallel_tool_calls')
    expect(at.warnings).toEqual(['dropped_tool'])
  })

  it('a choice that names a dropped tool is refused', () => {
    const bash = {
      t: 'server' as const,
      dialect: 'messages' as const,
      kind: 'bash_20250124',
      raw: { type: 'bash_20250124', name: 'bash' },
    }
    const tools = [bash, { t: 'function' as const, name: 'f' }]
    rejects(() => encode(request({ source: 'messages', tools, toolChoice: { mode: 'tool', name: 'bash' } })), 'tool_choice')
    rejects(
      () => encode(request({ source: 'messages', tools, toolChoice: { mode: 'server', raw: { type: 'tool', name: 'bash' } } })),
      'tool_choice',
    )
  })

  it('tool_choice is flat; allowed names that do not exist leave the base', () => {
    const tools = [
      { t: 'function' as const, name: 'f' },
      { t: 'custom' as const, name: 'c' },
    ]
    const choice = (
      toolChoice: Parameters<typeof request>[0] extends infer T ? (T extends { toolChoice?: infer C } ? C : never) : never,
    ) => encode(request({ tools, toolChoice })).tool_choice
    expect(choice({ mode: 'tool', name: 'f' })).toEqual({ type: 'function', name: 'f' })
    expect(choice({ mode: 'tool', name: 'c' })).toEqual({ type: 'custom', name: 'c' })
    expect(choice({ mode: 'allowed', base: 'required', names: ['f', 'zz'] })).toEqual({
      type: 'allowed_tools',
      mode: 'required',
      tools: [{ type: 'function', name: 'f' }],
    })
    expect(choice({ mode: 'allowed', base: 'auto', names: ['zz'] })).toBe('auto')
  })

  it('web search crosses dialects', () => {
    const at = codec()
    const body = encode(
      request({
        tools: [
          {
            t: 'server',
            dialect: 'messages',
            kind: 'web_search_20250305',
            raw: { type: 'web_search_20250305', name: 'web_search' },
          },
        ],
        webSearch: {
          contextSize: 'high',
          allowedDomains: ['a.com'],
          blockedDomains: ['b.com'],
          userLocation: { type: 'approximate', approximate: { city: 'Rome' } },
        },
      }),
      at,
    )
    expect(body.tools).toEqual([
      {
        type: 'web_search',
        search_context_size: 'high',
        user_location: { type: 'approximate', city: 'Rome' },
        filters: { allowed_domains: ['a.com'] },
      },
    ])
    expect(at.warnings).toEqual(['dropped_blocked_domains'])
  })

  it('members without a field here are dropped with a warning, and a tiny output limit is raised', () => {
    const at = codec()
    const body = encode(
      request({
        maxTokens: 5,
        stop: ['END'],
        sampling: { seed: 1, n: 1, topK: 5, frequencyPenalty: 1, presencePenalty: 1, logitBias: { 1: 2 } },
        logprobs: { enabled: true, top: 3 },
        ext: { chat: { prediction: {} } },
      }),
      at,
    )
    expect(body).toMatchObject({ max_output_tokens: 16, include: ['message.output_text.logprobs'], top_logprobs: 3 })
    expect(at.warnings.sort()).toEqual(
      [
        'dropped_frequency_penalty',
        'dropped_logit_bias',
        'dropped_prediction',
        'dropped_presence_penalty',
        'dropped_seed',
        'dropped_stop',
        'max_tokens_raised',
      ].sort(),
    )
    expect(Object.keys(body).sort()).toEqual(['include', 'input', 'max_output_tokens', 'model', 'store', 'top_logprobs'])
  })

  it('refuses what cannot be expressed', () => {
    rejects(() => encode(request({ sampling: { n: 2 } })), 'n')
    rejects(() => encode(request({ modalities: ['text', 'audio'] })), 'modalities')
    rejects(
      () =>
        encode(
          request({ messages: [user({ t: 'audio', src: { kind: 'base64', data: 'x', mime: 'audio/wav' }, format: 'wav' })] }),
        ),
      'input',
    )
    rejects(() => encode(request({ messages: [user({ t: 'video', src: { kind: 'url', url: 'https://x' } })] })), 'input')
    rejects(() => encode(request({ source: 'messages', maxTokens: 0 })), 'max_tokens')
    rejects(() => encode(request({ source: 'messages', ext: { messages: { mcp_servers: [{}] } } })), 'mcp_servers')
    rejects(
      () => encode(request({ source: 'messages', messages: [user({ t: 'document', src: { kind: 'file', id: 'file_x' } })] })),
      'input',
    )
    rejects(
      () => encode(request({ source: 'generate_content', ext: { generate_content: { cachedContent: 'c' } } })),
      'cachedContent',
    )
    for (const uri of ['gs://b/x', 'https://generativelanguage.googleapis.com/v1beta/files/abc'])
      rejects(() => encode(request({ messages: [user({ t: 'image', src: { kind: 'uri', uri } })] })), 'input')
  })

  it('sampling is dropped for models that reason, unless reasoning is off', () => {
    const caps = { family: 'gpt', reasoning: true, sampling: 'none' as const, efforts: ['none', 'low', 'high'] as const }
    const at = codec({ caps })
    expect(encode(request({ sampling: { temperature: 0.2, topP: 0.5 } }), at)).not.toHaveProperty('temperature')
    expect(at.warnings).toEqual(['dropped_temperature', 'dropped_top_p'])
    expect(encode(request({ sampling: { temperature: 0.2 }, reasoning: { effort: 'none' } }), codec({ caps }))).toMatchObject({
      temperature: 0.2,
      reasoning: { effort: 'none' },
    })
  })

  it('reasoning: budgets become efforts, unknown efforts are clamped, a summary is asked for when the caller shows it', () => {
    const caps = { family: 'gpt', reasoning: true, efforts: ['low', 'medium', 'high'] as const }
    const at = codec({ caps })
    expect(encode(request({ source: 'messages', reasoning: { mode: 'enabled', budgetTokens: 10_000 } }), at).reasoning).toEqual({
      effort: 'medium',
      summary: 'auto',
    })
    expect(at.warnings).toEqual([])
    expect(encode(request({ reasoning: { effort: 'max' } }), at).reasoning).toEqual({ effort: 'high' })
    expect(at.warnings).toEqual(['reasoning_clamped'])
    expect(encode(request({ source: 'generate_content', reasoning: { includeThoughts: true } })).reasoning).toEqual({
      summary: 'auto',
    })
    expect(encode(request({ source: 'messages', reasoning: { mode: 'adaptive', summary: 'omitted' } })).reasoning).toBeUndefined()
  })

  it('images are strings, files are named, formats are flat and named', () => {
    const body = encode(
      request({
        messages: [
          user(
            { t: 'image', src: { kind: 'url', url: 'https://x/y.png' }, detail: 'high' },
            { t: 'document', src: { kind: 'base64', mime: 'application/pdf', data: 'QQ==' } },
            { t: 'document', src: { text: 'plain' }, title: 'T' },
          ),
        ],
        output: { kind: 'json_schema', name: 'my schema!', schema: strictSchema },
        verbosity: 'low',
      }),
    )
    expect(body.input[0].content).toEqual([
      { type: 'input_image', image_url: 'https://x/y.png', detail: 'high' },
      { type: 'input_file', file_data: 'data:application/pdf;base64,QQ==', filename: 'document.pdf' },
      { type: 'input_text', text: 'T\n\nplain' },
    ])
    expect(body.text).toEqual({ format: { type: 'json_schema', name: 'my_schema_', schema: strictSchema }, verbosity: 'low' })
    expect(encode(request({ output: { kind: 'json_schema', schema: {} } })).text.format.name).toBe('response')
  })

  it('own dialect: what a plugin did not touch comes out as it went in', () => {
    const body = {
      model: 'm',
      instructions: 'Be brief.',
      input: [
        { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'fix' }] },
        { type: 'web_search_call', id: 'ws_1', status: 'completed', action: { type: 'search', query: 'q' } },
        {
          type: 'message',
          role: 'assistant',
          content: [{ type: 'output_text', text: 'ok', annotations: [] }],
          phase: 'commentary',
        },
        { type: 'reasoning', summary: [], encrypted_content: 'gAAA' },
        { type: 'custom_tool_call', call_id: 'p', name: 'apply_patch', input: '*** Begin' },
        { type: 'function_call', call_id: 'q', name: 'go', namespace: 'mcp', arguments: '{}' },
        { type: 'custom_tool_call_output', call_id: 'p', output: 'done' },
        { type: 'compaction', encrypted_content: 'zz' },
        { type: 'function_call_output', call_id: 'q', output: 'done' },
      ],
      tools: [
        {
          type: 'function',
          name: 'f',
          parameters: { type: 'object', properties: {} },
          strict: false,
          output_schema: { type: 'object' },
        },
        { type: 'custom', name: 'apply_patch', format: { type: 'text' } },
        {
          type: 'namespace',
          name: 'mcp',
          description: 'd',
          tools: [{ type: 'function', name: 'go', parameters: strictSchema, strict: true }],
        },
        { type: 'web_search', external_web_access: true },
      ],
      tool_choice: { type: 'custom', name: 'apply_patch' },
      parallel_tool_calls: true,
      max_tool_calls: 3,
      previous_response_id: 'resp_1',
      background: true,
      store: true,
      truncation: 'auto',
      include: ['web_search_call.action.sources', 'reasoning.encrypted_content'],
      reasoning: { effort: 'high', summary: 'auto', context: 'all' },
      text: { format: { type: 'text' }, verbosity: 'low', extra: 1 },
      stream: true,
      stream_options: { include_obfuscation: false },
      future_field: { a: 1 },
    }
    expect(encode(decode(body))).toEqual({ ...body, model: 'gpt-5.6' })
  })

  it('sends a custom call of history natively, unwrapped where a dialect wrapped it', () => {
    const { input } = encode(
      request({
        messages: [assistant(call('a', 'c', '{"input":"x"}', { kind: 'custom' })), { role: 'tool', parts: [result('a', 'r')] }],
      }),
    )
    expect(input).toEqual([
      { type: 'custom_tool_call', call_id: 'a', name: 'c', input: 'x' },
      { type: 'custom_tool_call_output', call_id: 'a', output: 'r' },
    ])
  })

  it('says path, streaming and forwarded headers', () => {
    const encoded = driver.encodeRequest(
      freeze(request({ stream: true, headers: { openaiBeta: 'x', idempotencyKey: 'k' } })),
      codec(),
    )
    expect(encoded.path).toBe('/v1/responses')
    expect(encoded.headers).toEqual(['idempotency-key', 'k'])
    expect(encoded.body.get('stream')).toBe(true)
  })
})
