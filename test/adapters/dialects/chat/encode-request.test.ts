import { describe, expect, it } from 'vitest'
import { openaiCaps } from '../../../../adapters/providers/caps/openai.ts'
import { wireBody } from '../../../../core/lib/wire-body.ts'
import type { CanonicalRequest, FunctionTool, Tool } from '../../../../core/types/canonical.ts'
import { assistant, decode, driver, encode, freeze, hop, request, thrown, toolCall, toolResult, user } from './support.ts'

const tool = (name: string, extra: Partial<FunctionTool> = {}): Tool => ({ t: 'function', name, schema: { type: 'object', properties: {} }, ...extra })
const openai = (model: string) => hop({ provider: 'openai', model, caps: openaiCaps(model), quirks: { pdf: true, maxTools: 128, maxStop: 4 } })

describe('options for a chat upstream', () => {
  it('a plain request carries what was asked and nothing else', () => {
    const encoded = driver.encodeRequest(freeze(request({ maxTokens: 5 })), hop())
    expect(encoded.path).toBe('/v1/chat/completions')
    expect(encoded.headers).toEqual([])
    expect(encoded.body.json()).toEqual({ model: 'some-model', messages: [{ role: 'user', content: 'hi' }], max_tokens: 5 })
  })

  it('streams always ask for usage, unless the provider refuses the field', () => {
    expect(encode({ stream: true })).toMatchObject({ stream: true, stream_options: { include_usage: true } })
    expect(encode({ stream: true }, hop({ quirks: { rejectsStreamOptions: true } }))).not.toHaveProperty('stream_options')
  })

  it('golden 100: a chat request of which nothing was changed encodes to the same meaning', () => {
    const body = {
      model: 'some-model',
      messages: [
        { role: 'system', content: 's' },
        { role: 'user', content: [{ type: 'text', text: 'a' }, { type: 'image_url', image_url: { url: 'https://x.test/i.png', detail: 'low' } }] },
        { role: 'assistant', content: null, tool_calls: [{ id: 'c1', type: 'function', function: { name: 'f', arguments: '{}' } }] },
        { role: 'tool', tool_call_id: 'c1', content: 'r' },
      ],
      tools: [{ type: 'function', function: { name: 'f', parameters: { type: 'object', properties: {} } } }],
      tool_choice: { type: 'function', function: { name: 'f' } },
      temperature: 0.3,
      seed: 5,
      foo: { bar: [1] },
      metadata: { a: 'b' },
      response_format: { type: 'json_object' },
    }
    expect(encode(decode(body))).toEqual(body)
  })

  it('golden 38: OpenAI reasoning models get max_completion_tokens and no sampling', () => {
    const on = openai('gpt-5')
    const wire = encode({ source: 'chat', maxTokens: 100, sampling: { temperature: 0.2, topP: 1, presencePenalty: 0.5 }, stop: ['x'], logprobs: { enabled: true, top: 2 } }, on)
    expect(wire).toMatchObject({ max_completion_tokens: 100, top_p: 1 })
    for (const gone of ['max_tokens', 'temperature', 'presence_penalty', 'stop', 'logprobs', 'top_logprobs']) expect(wire).not.toHaveProperty(gone)
    expect(on.warnings.sort()).toEqual(['dropped_logprobs', 'dropped_presence_penalty', 'dropped_stop', 'dropped_temperature', 'dropped_top_logprobs'])
  })

  it('sampling stays where effort none is valid and set, and on models that do not reason', () => {
    expect(encode({ source: 'chat', reasoning: { effort: 'none' }, sampling: { temperature: 0.2 } }, openai('gpt-5.2'))).toMatchObject({ temperature: 0.2 })
    expect(encode({ sampling: { temperature: 0.2 }, stop: ['x'] }, openai('gpt-4.1'))).toMatchObject({ temperature: 0.2, stop: ['x'] })
  })

  it('golden 37: function tools on a model that takes them only with effort none, or not at all', () => {
    const on = openai('gpt-5.4')
    expect(encode({ tools: [tool('f')] }, on)).toMatchObject({ reasoning_effort: 'none' })
    expect(on.warnings).toEqual(['reasoning_clamped'])
    expect(thrown(() => encode({ tools: [tool('f')] }, openai('gpt-6.2')))).toMatchObject({ param: 'tools', code: 'unsupported_for_target' })
    expect(encode({ tools: [tool('f')] }, openai('gpt-4.1'))).not.toHaveProperty('reasoning_effort')
  })

  it('efforts are clamped to what the model has, never refused', () => {
    const effort = (wish: NonNullable<CanonicalRequest['reasoning']>, model: string) => {
      const on = openai(model)
      return [encode({ reasoning: wish }, on).reasoning_effort, on.warnings.length]
    }
    expect(effort({ effort: 'max' }, 'gpt-5.2')).toEqual(['xhigh', 1])
    expect(effort({ effort: 'xhigh' }, 'gpt-5')).toEqual(['high', 1])
    expect(effort({ effort: 'none' }, 'o3')).toEqual(['low', 1])
    expect(effort({ effort: 'minimal' }, 'gpt-5.6')).toEqual(['low', 1])
    expect(effort({ mode: 'enabled', budgetTokens: 10_000 }, 'gpt-5.2')).toEqual(['medium', 0])
    expect(effort({ mode: 'dynamic' }, 'gpt-5.2')).toEqual([undefined, 0])
    expect(effort({ effort: 'high' }, 'gpt-4.1')).toEqual([undefined, 1])
    expect(encode({ reasoning: { mode: 'disabled' } })).not.toHaveProperty('reasoning_effort')
    expect(encode({ reasoning: { effort: 'high' } })).toMatchObject({ reasoning_effort: 'high' })
  })

  it('golden 98: tools [] with tool_choice removes both', () => {
    const wire = encode({ tools: [], toolChoice: { mode: 'auto' }, parallelToolCalls: false })
    expect(Object.keys(wire)).toEqual(['model', 'messages'])
  })

  it('golden 13: names are fitted one to one and come back', () => {
    const on = hop()
    const wire = encode({ tools: [tool('a.b/c d'), tool('a_b_c_d'), tool('x'.repeat(80))], toolChoice: { mode: 'tool', name: 'a.b/c d' } }, on)
    const names = (wire.tools as { function: { name: string } }[]).map((item) => item.function.name)
    expect(new Set(names).size).toBe(3)
    for (const name of names) expect(name).toMatch(/^[a-zA-Z0-9_-]{1,64}$/)
    expect(wire.tool_choice).toEqual({ type: 'function', function: { name: names[0] } })
    expect(names.map((name) => on.names.get(name))).toEqual(['a.b/c d', 'a_b_c_d', 'x'.repeat(80)])
  })

  it('golden 86: strict survives where the schema qualifies and is false where it does not', () => {
    const closed = { type: 'object', properties: { a: { type: 'string' } }, required: ['a'], additionalProperties: false }
    const strict = (extra: Partial<FunctionTool>, source: CanonicalRequest['source'] = 'messages') =>
      (encode({ source, tools: [tool('f', extra)] }).tools as { function: { strict?: boolean } }[])[0]?.function.strict
    expect(strict({ strict: true, schema: closed })).toBe(true)
    expect(strict({ strict: true, schema: { ...closed, required: [] } })).toBe(false)
    expect(strict({ strict: true, schema: { ...closed, properties: { a: { type: 'object', properties: {} } } } })).toBe(false)
    expect(strict({ schema: closed })).toBe(undefined)
    // golden 34: responses callers mean strict when they say nothing
    expect(strict({ schema: closed }, 'responses')).toBe(true)
    expect(strict({ schema: { type: 'object' } }, 'responses')).toBe(false)
  })

  it('golden 93: members of other dialects never leak into function objects', () => {
    const wire = encode({ tools: [tool('f', { deferLoading: true, cache: {}, ext: { messages: { input_examples: [1], allowed_callers: [] } } })] })
    expect(wire.tools).toEqual([{ type: 'function', function: { name: 'f', parameters: { type: 'object', properties: {} } } }])
  })

  it('golden 41: typed tools of other dialects are dropped with a warning, forcing one is refused', () => {
    const on = hop()
    const bash: Tool = { t: 'server', dialect: 'messages', kind: 'bash_20250124', raw: { type: 'bash_20250124', name: 'bash' } }
    expect(encode({ tools: [bash, tool('f')] }, on).tools).toHaveLength(1)
    expect(on.warnings).toEqual(['tool_dropped'])
    expect(thrown(() => encode({ tools: [bash, tool('f')], toolChoice: { mode: 'tool', name: 'bash' } }))).toMatchObject({ param: 'tool_choice' })
    expect(thrown(() => encode({ source: 'responses', tools: [tool('f')], toolChoice: { mode: 'server', raw: { type: 'mcp' } } }))).toMatchObject({ param: 'tool_choice' })
  })

  it('golden 36: custom tools become functions of one input, namespaces are flattened, both come back', () => {
    const on = hop({ caller: 'responses' })
    const wire = encode(
      {
        source: 'responses',
        tools: [
          { t: 'custom', name: 'apply_patch', description: 'd', format: { type: 'grammar', syntax: 'lark', definition: 'start: X' } },
          { t: 'namespace', name: 'ns', description: '', tools: [tool('run')] },
          { t: 'server', dialect: 'responses', kind: 'local_shell', raw: { type: 'local_shell' } },
        ],
        messages: [user('x'), assistant(toolCall('a', 'apply_patch', '*** Begin', { kind: 'custom' }), toolCall('b', 'run', '{}', { namespace: 'ns' })), toolResult('a', '1'), toolResult('b', '2')],
      },
      on,
    )
    expect(wire.tools).toMatchObject([{ type: 'function', function: { name: 'apply_patch', parameters: { required: ['input'] } } }, { function: { name: 'ns__run' } }])
    expect(wire.messages[1]).toMatchObject({ tool_calls: [{ function: { name: 'apply_patch', arguments: '{"input":"*** Begin"}' } }, { function: { name: 'ns__run' } }] })
    const answer = driver.decodeResponse(
      decodeBody({
        id: 'x',
        choices: [
          {
            index: 0,
            message: {
              content: null,
              tool_calls: [
                { id: 'p', type: 'function', function: { name: 'apply_patch', arguments: '{"input":"*** End"}' } },
                { id: 'q', type: 'function', function: { name: 'ns__run', arguments: '{}' } },
              ],
            },
            finish_reason: 'tool_calls',
          },
        ],
      }),
      on,
    )
    expect(answer.choices[0]?.parts).toEqual([
      { t: 'tool_call', id: 'p', idMinted: false, name: 'apply_patch', args: '*** End', kind: 'custom' },
      { t: 'tool_call', id: 'q', idMinted: false, name: 'run', namespace: 'ns', args: '{}', kind: 'function' },
    ])
  })

  it('custom tools of a chat caller stay custom', () => {
    const wire = encode({ source: 'chat', tools: [{ t: 'custom', name: 'c', format: { type: 'grammar', syntax: 'lark', definition: 'x' } }], toolChoice: { mode: 'tool', name: 'c' } })
    expect(wire.tools).toEqual([{ type: 'custom', custom: { name: 'c', format: { type: 'grammar', grammar: { syntax: 'lark', definition: 'x' } } } }])
    expect(wire.tool_choice).toEqual({ type: 'custom', custom: { name: 'c' } })
  })

  it('golden 17: allowed tools are native at OpenAI and a filter elsewhere', () => {
    const tools = [tool('a'), tool('b')]
    const toolChoice = { mode: 'allowed' as const, base: 'required' as const, names: ['a'] }
    expect(encode({ tools, toolChoice })).toMatchObject({ tools: [{ function: { name: 'a' } }], tool_choice: 'required' })
    expect(encode({ tools, toolChoice }, openai('gpt-4.1'))).toMatchObject({
      tools: [{}, {}],
      tool_choice: { type: 'allowed_tools', allowed_tools: { mode: 'required', tools: [{ type: 'function', function: { name: 'a' } }] } },
    })
    expect(encode({ tools, toolChoice: { ...toolChoice, names: ['zz'] } }).tools).toHaveLength(2)
  })

  it('facts of providers: mistral says any, groq has one choice and no logprobs, cerebras no penalties', () => {
    expect(encode({ tools: [tool('f')], toolChoice: { mode: 'required' } }, hop({ quirks: { toolChoiceRequired: 'any' } })).tool_choice).toBe('any')
    expect(thrown(() => encode({ sampling: { n: 2 } }, hop({ quirks: { noMultipleChoices: true } })))).toMatchObject({ param: 'n' })
    expect(encode({ logprobs: { enabled: true } }, hop({ quirks: { noLogprobs: true } }))).not.toHaveProperty('logprobs')
    expect(encode({ sampling: { frequencyPenalty: 1 } }, hop({ quirks: { noPenalties: true } }))).not.toHaveProperty('frequency_penalty')
    expect(encode({ sampling: { topK: 4 } })).not.toHaveProperty('top_k')
    expect(encode({ sampling: { topK: 4 } }, hop({ quirks: { topK: true } }))).toMatchObject({ top_k: 4 })
    expect(thrown(() => encode({ tools: Array.from({ length: 129 }, (_, at) => tool(`f${at}`)) }, openai('gpt-4.1')))).toMatchObject({ param: 'tools' })
    const on = hop()
    expect(encode({ stop: ['1', '2', '3', '4', '5'] }, on).stop).toHaveLength(4)
    expect(on.warnings).toEqual(['stop_truncated'])
  })

  it('output formats: a schema has a name, an unqualified strict is lowered, a model without schemas gets an instruction', () => {
    const output = { kind: 'json_schema' as const, schema: { type: 'object' }, strict: true }
    expect(encode({ output }).response_format).toEqual({ type: 'json_schema', json_schema: { name: 'response', schema: { type: 'object' }, strict: false } })
    const on = hop({ caps: { family: 'x', structuredOutputs: false } })
    const weak = encode({ output }, on)
    expect(weak.response_format).toEqual({ type: 'json_object' })
    expect(weak.messages[0]?.content).toContain('{"type":"object"}')
    expect(on.warnings).toEqual(['output_schema_as_instruction'])
  })

  it('golden 35: state of another vendor is refused, store is ignored', () => {
    expect(thrown(() => encode({ source: 'responses', state: { previousResponseId: 'r' } }))).toMatchObject({ param: 'previous_response_id' })
    expect(thrown(() => encode({ source: 'responses', state: { background: true } }))).toMatchObject({ param: 'background' })
    expect(thrown(() => encode({ source: 'responses', state: { conversation: 'c' } }))).toMatchObject({ param: 'conversation' })
    expect(thrown(() => encode({ maxTokens: 0 }))).toMatchObject({ param: 'max_tokens' })
    expect(thrown(() => encode({ ext: { messages: { mcp_servers: [{}] } } }))).toMatchObject({ param: 'mcp_servers' })
    expect(thrown(() => encode({ ext: { generate_content: { cachedContent: 'c' } } }))).toMatchObject({ param: 'cachedContent' })
    expect(encode({ source: 'responses', state: { store: true } })).not.toHaveProperty('store')
  })

  it('golden 80: tiers, metadata and other OpenAI fields only where they mean something', () => {
    const asked = { serviceTier: 'standard_only' as const, metadata: { a: 'b' }, verbosity: 'low' as const, cache: { key: 'k' }, safetyId: 's', endUser: 'u' }
    expect(encode(asked, openai('gpt-4.1'))).toMatchObject({ service_tier: 'default', verbosity: 'low', prompt_cache_key: 'k', safety_identifier: 's', user: 'u' })
    const elsewhere = encode(asked)
    for (const gone of ['service_tier', 'metadata', 'verbosity', 'prompt_cache_key', 'safety_identifier']) expect(elsewhere).not.toHaveProperty(gone)
  })

  it('web search becomes web_search_options where the model has it, else a warning', () => {
    const webSearch = { contextSize: 'high', userLocation: { type: 'approximate', city: 'Oslo' }, allowedDomains: ['x.test'] }
    const server: Tool = { t: 'server', dialect: 'messages', kind: 'web_search_20250305', raw: { name: 'web_search' } }
    const on = hop({ caps: { family: 'gpt', webSearch: true } })
    expect(encode({ webSearch, tools: [server] }, on).web_search_options).toEqual({ search_context_size: 'high', user_location: { type: 'approximate', approximate: { city: 'Oslo' } } })
    expect(on.warnings).toEqual(['web_search_filters_dropped'])
    const without = hop()
    expect(encode({ webSearch, tools: [server] }, without)).not.toHaveProperty('web_search_options')
    expect(without.warnings).toEqual(['dropped_web_search'])
  })
})

function decodeBody(value: unknown) {
  return wireBody(JSON.stringify(value))
}
