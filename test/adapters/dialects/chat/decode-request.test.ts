import { describe, expect, it } from 'vitest'
import { decode, thrown } from './support.ts'

const base = { model: 'openai/gpt-4.1', messages: [{ role: 'user', content: 'hi' }] }

describe('a chat request becomes canonical', () => {
  it('maps every option to its canonical place and keeps unknown fields for the same dialect', () => {
    const canonical = decode({
      ...base,
      stream: true,
      stream_options: { include_usage: true, include_obfuscation: false },
      temperature: 0.5,
      top_p: 0.9,
      top_k: 4,
      frequency_penalty: 0.1,
      presence_penalty: 0.2,
      logit_bias: { 5: -1 },
      seed: 7,
      n: 2,
      stop: 'END',
      max_tokens: 5,
      max_completion_tokens: 9,
      logprobs: true,
      top_logprobs: 3,
      reasoning_effort: 'high',
      verbosity: 'low',
      user: 'u1',
      safety_identifier: 's1',
      metadata: { a: 'b' },
      service_tier: 'flex',
      store: true,
      parallel_tool_calls: false,
      prompt_cache_key: 'k',
      prompt_cache_retention: '24h',
      prompt_cache_options: { mode: 'explicit', ttl: '30m' },
      modalities: ['text', 'audio'],
      audio: { voice: 'alloy', format: 'wav' },
      web_search_options: { search_context_size: 'low', user_location: { type: 'approximate', approximate: { city: 'Oslo' } } },
      response_format: { type: 'json_schema', json_schema: { name: 'x', schema: { type: 'object' }, strict: true } },
      prediction: { type: 'content', content: 'x' },
      foo: 1,
      bar: null,
    })
    expect(canonical).toMatchObject({
      model: 'openai/gpt-4.1',
      stream: true,
      source: 'chat',
      includeUsage: true,
      sampling: {
        temperature: 0.5,
        topP: 0.9,
        topK: 4,
        frequencyPenalty: 0.1,
        presencePenalty: 0.2,
        logitBias: { 5: -1 },
        seed: 7,
        n: 2,
      },
      stop: ['END'],
      maxTokens: 9,
      logprobs: { enabled: true, top: 3 },
      reasoning: { effort: 'high' },
      verbosity: 'low',
      endUser: 'u1',
      safetyId: 's1',
      metadata: { a: 'b' },
      serviceTier: 'flex',
      state: { store: true },
      parallelToolCalls: false,
      cache: { key: 'k', retention: '24h', mode: 'explicit', auto: { ttl: '30m' } },
      modalities: ['text', 'audio'],
      audioOut: { voice: 'alloy', format: 'wav' },
      webSearch: { contextSize: 'low', userLocation: { type: 'approximate', city: 'Oslo' } },
      output: { kind: 'json_schema', name: 'x', schema: { type: 'object' }, strict: true },
    })
    expect(canonical.ext).toEqual({
      chat: { prediction: { type: 'content', content: 'x' }, foo: 1, stream_options: { include_obfuscation: false } },
    })
  })

  it('null is absence everywhere', () => {
    const canonical = decode({
      ...base,
      temperature: null,
      stop: null,
      tools: null,
      tool_choice: null,
      response_format: null,
      stream: null,
      metadata: null,
    })
    expect(canonical).toEqual(decode(base))
  })

  it('reads tools and every form of tool_choice', () => {
    const { tools } = decode({
      ...base,
      tools: [
        { type: 'function', function: { name: 'f', description: 'd', parameters: { type: 'object' }, strict: true, x: 1 } },
        {
          type: 'custom',
          custom: { name: 'c', format: { type: 'grammar', grammar: { syntax: 'lark', definition: 'start: X' } } },
        },
        { type: 'web_search' },
      ],
    })
    expect(tools).toEqual([
      { t: 'function', name: 'f', description: 'd', schema: { type: 'object' }, strict: true, ext: { chat: { x: 1 } } },
      { t: 'custom', name: 'c', format: { type: 'grammar', syntax: 'lark', definition: 'start: X' } },
      { t: 'server', dialect: 'chat', kind: 'web_search', raw: { type: 'web_search' } },
    ])
    const choice = (tool_choice: unknown) => decode({ ...base, tool_choice }).toolChoice
    expect(choice('auto')).toEqual({ mode: 'auto' })
    expect(choice('any')).toEqual({ mode: 'required' })
    expect(choice({ type: 'function', function: { name: 'f' } })).toEqual({ mode: 'tool', name: 'f' })
    expect(choice({ type: 'custom', custom: { name: 'c' } })).toEqual({ mode: 'tool', name: 'c' })
    expect(
      choice({
        type: 'allowed_tools',
        allowed_tools: { mode: 'required', tools: [{ type: 'function', function: { name: 'f' } }] },
      }),
    ).toEqual({
      mode: 'allowed',
      base: 'required',
      names: ['f'],
    })
  })

  it("reads OpenRouter's and LiteLLM's wishes for reasoning", () => {
    expect(decode({ ...base, reasoning: { effort: 'low' } }).reasoning).toEqual({ effort: 'low' })
    expect(decode({ ...base, reasoning: { max_tokens: 2000 } }).reasoning).toEqual({ mode: 'enabled', budgetTokens: 2000 })
    expect(decode({ ...base, thinking: { type: 'enabled', budget_tokens: 3000 } }).reasoning).toEqual({
      mode: 'enabled',
      budgetTokens: 3000,
    })
    expect(decode({ ...base, thinking: { type: 'enabled', budget_tokens: 3000 } }).ext.chat).toEqual({
      thinking: { type: 'enabled', budget_tokens: 3000 },
    })
    expect(decode({ ...base, reasoning_effort: 'default' })).toMatchObject({ ext: { chat: { reasoning_effort: 'default' } } })
  })

  it('keeps the headers of the dialect', () => {
    expect(decode(base, ['OpenAI-Beta', 'x=1', 'Idempotency-Key', 'k', 'Cookie', 'c']).headers).toEqual({
      openaiBeta: 'x=1',
      idempotencyKey: 'k',
    })
  })

  it.each([
    [{ model: 7 }, 'model'],
    [{ stop: [1] }, 'stop'],
    [{ tools: {} }, 'tools'],
    [{ seed: 'x' }, 'seed'],
    [{ stream: 'yes' }, 'stream'],
    [{ tool_choice: 5 }, 'tool_choice'],
    [{ messages: ['x'] }, 'messages.0'],
    [{ messages: [{ role: 'robot' }] }, 'messages.0.role'],
    [{ messages: [{ role: 'user', content: 5 }] }, 'messages.0.content'],
    [{ messages: [{ role: 'user', content: [{ type: 'image_url', image_url: {} }] }] }, 'messages.0.content.0.image_url.url'],
    [{ messages: [{ role: 'assistant', tool_calls: [{ function: {} }] }] }, 'messages.0.tool_calls.0.function.name'],
    [{ tools: [{ type: 'function', function: { parameters: {} } }] }, 'tools.0.function.name'],
  ])('a wrong type is a 400 that names the field: %j', (overrides, param) => {
    expect(thrown(() => decode({ ...base, ...overrides }))).toMatchObject({ status: 400, param })
  })
})
