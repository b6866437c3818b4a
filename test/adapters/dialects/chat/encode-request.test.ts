import { describe, expect, it } from 'vitest'
import { openaiCaps } from '../../../../adapters/providers/caps/openai.ts'
import type { CanonicalRequest, FunctionTool, Tool } from '../../../../core/types/request/canonical.ts'
import { codec, decode, driver, encode, freeze, request, thrown } from './support.ts'

const tool = (name: string, extra: Partial<FunctionTool> = {}): Tool => ({
  t: 'function',
  name,
  schema: { type: 'object', properties: {} },
  ...extra,
})
const openai = (model: string) =>
  codec({ provider: 'openai', model, caps: openaiCaps(model), quirks: { pdf: true, maxTools: 128, maxStop: 4 } })

describe('options for a chat upstream', () => {
  it('a plain request carries what was asked and nothing else', () => {
    const encoded = driver.encodeRequest(freeze(request({ maxTokens: 5 })), codec())
    expect(encoded.path).toBe('/v1/chat/completions')
    expect(encoded.headers).toEqual([])
    expect(encoded.body.json()).toEqual({ model: 'some-model', messages: [{ role: 'user', content: 'hi' }], max_tokens: 5 })
  })

  it('streams always ask for usage, unless the provider refuses the field', () => {
    expect(encode({ stream: true })).toMatchObject({ stream: true, stream_options: { include_usage: true } })
    expect(encode({ stream: true }, codec({ quirks: { rejectsStreamOptions: true } }))).not.toHaveProperty('stream_options')
  })

  it('an unchanged chat request encodes to the same meaning', () => {
    const body = {
      model: 'some-model',
      messages: [
        { role: 'system', content: 's' },
        {
          role: 'user',
          content: [
            { type: 'text', text: 'a' },
            { type: 'image_url', image_url: { url: 'https://x.test/i.png', detail: 'low' } },
          ],
        },
        {
          role: 'assistant',
          content: null,
          tool_calls: [{ id: 'c1', type: 'function', function: { name: 'f', arguments: '{}' } }],
        },
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

  it('OpenAI reasoning models get max_completion_tokens and no sampling', () => {
    const on = openai('gpt-5')
    const wire = encode(
      {
        source: 'chat',
        maxTokens: 100,
        sampling: { temperature: 0.2, topP: 1, presencePenalty: 0.5 },
        stop: ['x'],
        logprobs: { enabled: true, top: 2 },
      },
      on,
    )
    expect(wire).toMatchObject({ max_completion_tokens: 100, top_p: 1 })
    for (const gone of ['max_tokens', 'temperature', 'presence_penalty', 'stop', 'logprobs', 'top_logprobs'])
      expect(wire).not.toHaveProperty(gone)
    expect(on.warnings.sort()).toEqual([
      'dropped_logprobs',
      'dropped_presence_penalty',
      'dropped_stop',
      'dropped_temperature',
      'dropped_top_logprobs',
    ])
  })

  it('sampling stays where effort none is valid and set, and on models that do not reason', () => {
    expect(
      encode({ source: 'chat', reasoning: { effort: 'none' }, sampling: { temperature: 0.2 } }, openai('gpt-5.2')),
    ).toMatchObject({ temperature: 0.2 })
    expect(encode({ sampling: { temperature: 0.2 }, stop: ['x'] }, openai('gpt-4.1'))).toMatchObject({
      temperature: 0.2,
      stop: ['x'],
    })
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

  it('facts of providers: mistral says any, groq has one choice and no logprobs, cerebras no penalties', () => {
    expect(
      encode({ tools: [tool('f')], toolChoice: { mode: 'required' } }, codec({ quirks: { toolChoiceRequired: 'any' } }))
        .tool_choice,
    ).toBe('any')
    expect(thrown(() => encode({ sampling: { n: 2 } }, codec({ quirks: { noMultipleChoices: true } })))).toMatchObject({
      param: 'n',
    })
    expect(encode({ logprobs: { enabled: true } }, codec({ quirks: { noLogprobs: true } }))).not.toHaveProperty('logprobs')
    expect(encode({ sampling: { frequencyPenalty: 1 } }, codec({ quirks: { noPenalties: true } }))).not.toHaveProperty(
      'frequency_penalty',
    )
    expect(encode({ sampling: { topK: 4 } })).not.toHaveProperty('top_k')
    expect(encode({ sampling: { topK: 4 } }, codec({ quirks: { topK: true } }))).toMatchObject({ top_k: 4 })
    expect(
      thrown(() => encode({ tools: Array.from({ length: 129 }, (_, at) => tool(`f${at}`)) }, openai('gpt-4.1'))),
    ).toMatchObject({ param: 'tools' })
    const on = codec()
    expect(encode({ stop: ['1', '2', '3', '4', '5'] }, on).stop).toHaveLength(4)
    expect(on.warnings).toEqual(['stop_truncated'])
  })

  it('output formats: a schema has a name, an unqualified strict is lowered, a model without schemas gets an instruction', () => {
    const output = { kind: 'json_schema' as const, schema: { type: 'object' }, strict: true }
    expect(encode({ output }).response_format).toEqual({
      type: 'json_schema',
      json_schema: { name: 'response', schema: { type: 'object' }, strict: false },
    })
    const on = codec({ caps: { family: 'x', structuredOutputs: false } })
    const weak = encode({ output }, on)
    expect(weak.response_format).toEqual({ type: 'json_object' })
    expect(weak.messages[0]?.content).toContain('{"type":"object"}')
    expect(on.warnings).toEqual(['output_schema_as_instruction'])
  })

  it('state of another vendor is refused, store is ignored', () => {
    expect(thrown(() => encode({ source: 'responses', state: { previousResponseId: 'r' } }))).toMatchObject({
      param: 'previous_response_id',
    })
    expect(thrown(() => encode({ source: 'responses', state: { background: true } }))).toMatchObject({ param: 'background' })
    expect(thrown(() => encode({ source: 'responses', state: { conversation: 'c' } }))).toMatchObject({ param: 'conversation' })
    expect(thrown(() => encode({ maxTokens: 0 }))).toMatchObject({ param: 'max_tokens' })
    expect(thrown(() => encode({ ext: { messages: { mcp_servers: [{}] } } }))).toMatchObject({ param: 'mcp_servers' })
    expect(thrown(() => encode({ ext: { generate_content: { cachedContent: 'c' } } }))).toMatchObject({ param: 'cachedContent' })
    expect(encode({ source: 'responses', state: { store: true } })).not.toHaveProperty('store')
  })

  it('tiers, metadata and other OpenAI fields are sent only to vendors that know them', () => {
    const asked = {
      serviceTier: 'standard_only' as const,
      metadata: { a: 'b' },
      verbosity: 'low' as const,
      cache: { key: 'k' },
      safetyId: 's',
      endUser: 'u',
    }
    expect(encode(asked, openai('gpt-4.1'))).toMatchObject({
      service_tier: 'default',
      verbosity: 'low',
      prompt_cache_key: 'k',
      safety_identifier: 's',
      user: 'u',
    })
    const elsewhere = encode(asked)
    for (const gone of ['service_tier', 'metadata', 'verbosity', 'prompt_cache_key', 'safety_identifier'])
      expect(elsewhere).not.toHaveProperty(gone)
  })

  it('a service tier that costs other money or time is not left out in silence', () => {
    const other = { source: 'responses', caps: { family: 'llama' } } as const
    const warned = (tier: 'default' | 'flex' | 'priority') => {
      const on = codec({ caps: other.caps })
      expect(encode({ source: other.source, serviceTier: tier }, on)).not.toHaveProperty('service_tier')
      return on.warnings
    }
    expect([warned('default'), warned('flex'), warned('priority')]).toEqual([
      [],
      ['dropped_service_tier'],
      ['dropped_service_tier'],
    ])
  })

  it('web search becomes web_search_options where the model has it, else a warning', () => {
    const webSearch = { contextSize: 'high', userLocation: { type: 'approximate', city: 'Oslo' }, allowedDomains: ['x.test'] }
    const server: Tool = { t: 'server', dialect: 'messages', kind: 'web_search_20250305', raw: { name: 'web_search' } }
    const on = codec({ caps: { family: 'gpt', webSearch: true } })
    expect(encode({ webSearch, tools: [server] }, on).web_search_options).toEqual({
      search_context_size: 'high',
      user_location: { type: 'approximate', approximate: { city: 'Oslo' } },
    })
    expect(on.warnings).toEqual(['dropped_web_search_filters'])
    const without = codec()
    expect(encode({ webSearch, tools: [server] }, without)).not.toHaveProperty('web_search_options')
    expect(without.warnings).toEqual(['dropped_web_search'])
  })
})
