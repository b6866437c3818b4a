// Both real sources, field by field, through a gateway that has fetched them.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { bearer, makeKey } from '../keys/support.ts'
import { type World, world } from './support.ts'

describe('the primary card', () => {
  let t: World
  beforeAll(async () => {
    t = await world({
      config: {
        connections: {
          openai: { provider: 'openai', apiKey: 'sk-x', allowedModels: ['gpt-4o', 'house-model', 'free-for-now'] },
          ollama: { provider: 'ollama', allowedModels: ['house-llama'] },
        },
      },
    })
    expect(await t.sync()).toMatchObject({ status: 'ok', source: 'primary', ref: 'v1.89.4', refused: 0, error: null })
  })
  afterAll(() => t.close())

  it('is USD per token; ours is USD per million', async () => {
    expect(await t.price('openai/gpt-4o')).toEqual({
      model: 'openai/gpt-4o',
      provider: 'openai',
      prices: {
        input: 2.5,
        output: 10,
        cache_read: 1.25,
        batch: { input: 1.25, output: 5 },
        priority: { input: 4.25 },
        unit: 'per_1m_tokens',
      },
      source: 'primary',
      matched_key: 'openai/gpt-4o',
      ref: 'v1.89.4',
      price_ref: 'primary:1',
      fetched_at: '2026-01-01T00:00:00.000Z',
      stale_since: null,
      drift: null,
    })
    expect((await t.price('openai/house-model')).prices).toEqual({
      input: 1,
      output: 4,
      reasoning: 6,
      input_audio: 10,
      output_audio: 20,
      per_web_search_usd: 0.025,
      unit: 'per_1m_tokens',
    })
    expect((await t.price('openai/text-embedding-house')).prices).toEqual({ input: 0.02, unit: 'per_1m_tokens' })
  })

  it('has tiers by the tokens of the prompt, also of cache writes and of services', async () => {
    expect((await t.price('anthropic/claude-tiered')).prices).toEqual({
      input: 3,
      output: 15,
      cache_read: 0.3,
      cache_write: 3.75,
      cache_write_1h: 6,
      unit: 'per_1m_tokens',
      tiers: [{ above: 200_000, input: 6, output: 22.5, cache_write_1h: 12 }],
    })
    expect((await t.price('google/gemini-tiered')).prices).toEqual({
      input: 1.25,
      output: 10,
      unit: 'per_1m_tokens',
      tiers: [
        { above: 128_000, input: 2.5 },
        { above: 272_000, input: 5 },
      ],
      priority: { tiers: [{ above: 272_000, input: 7 }] },
    })
  })

  it('names providers and models its own way', async () => {
    for (const [model, matched] of [
      ['gemini/gemini-tiered', 'google/gemini-tiered'],
      ['google/gemini-only-on-vertex', 'google/gemini-only-on-vertex'],
      ['vertex/gemini-only-on-vertex', 'vertex/gemini-only-on-vertex'],
      ['vertex/claude-on-vertex', 'vertex/claude-on-vertex'],
      ['groq/openai/gpt-oss-house', 'groq/openai/gpt-oss-house'],
      ['together/meta/lone-model', 'together/meta/lone-model'],
      ['bedrock/amazon.nova-canvas-v1:0', 'bedrock/amazon.nova-canvas-v1:0'],
      // In any letter case, and without the date.
      ['openai/GPT-4O', 'openai/gpt-4o'],
      ['openai/house-model-2026-01-31', 'openai/house-model'],
      ['openai/house-model-20260131', 'openai/house-model'],
      ['openai/house-model@001', 'openai/house-model'],
      ['openai/house-model:latest', 'openai/house-model'],
      // The base provider's, the only provider's, and a name without a provider.
      ['azure/house-model', 'openai/house-model'],
      ['acme/meta/lone-model', 'together/meta/lone-model'],
      ['house-model', 'openai/house-model'],
    ] as const)
      expect(await t.price(model), model).toMatchObject({ model, source: 'primary', matched_key: matched })
    expect((await t.price('house-model')).provider).toBe('openai')
    // Its own price is built in.
    expect(await t.price('openai/gpt-4.1')).toMatchObject({
      source: 'builtin',
      matched_key: 'openai/gpt-4.1',
      prices: { input: 2 },
    })
    // It is known and has no price.
    expect(await t.price('openai/free-for-now')).toMatchObject({
      provider: 'openai',
      source: 'none',
      ref: null,
      matched_key: null,
    })
    // Two providers have it, so the match is ambiguous.
    expect(await t.price('acme/gemini-only-on-vertex')).toMatchObject({ source: 'none' })
    expect(await t.price('google/claude-on-vertex')).toMatchObject({ matched_key: 'vertex/claude-on-vertex' })
    for (const name of ['sample_spec', 'openai/fallback_generalizations', 'no-provider', 'not-an-object', '__proto__/__proto__'])
      expect(await t.price(name), name).toEqual({
        model: name,
        provider: null,
        prices: { unit: 'per_1m_tokens' },
        source: 'none',
        matched_key: null,
        ref: null,
        price_ref: null,
        fetched_at: null,
        stale_since: null,
        drift: null,
      })
  })

  it('of a model that another provider has under the same name, the price counts and what it can does not', () => {
    expect(t.facts.facts('together', 'meta/lone-model')).toMatchObject({ mode: 'chat', price: { input: 200_000_000 } })
    expect(t.facts.facts('acme', 'meta/lone-model')).toEqual({
      capabilities: {},
      price: { input: 200_000_000, output: 300_000_000 },
    })
  })

  it('has media by the piece, images by quality and size', async () => {
    const image = async (query: string, model = 'openai/dall-e-3') => (await t.price(model, query)).prices.per_image_usd
    expect(await image('&size=1024x1024&quality=hd')).toBe(0.08)
    expect(await image('&size=1024x1024&quality=standard')).toBe(0.04)
    expect(await image('')).toBe(0.04)
    expect(await image('&size=1792x1024')).toBe(0.05)
    expect(await image('&size=256x256', 'openai/dall-e-2')).toBe(2.4414e-7 * 65_536)
    expect(await image('&size=512x512', 'openai/dall-e-2')).toBeUndefined()
    expect(await image('&size=1024x1024', 'bedrock/amazon.nova-canvas-v1:0')).toBe(0.06)
    expect((await t.price('openai/whisper-house')).prices).toEqual({ per_second_usd: 0.0001, unit: 'per_1m_tokens' })
    expect((await t.price('openai/tts-house')).prices).toEqual({ per_character_usd: 0.000015, unit: 'per_1m_tokens' })
    expect((await t.price('cohere/rerank-house')).prices).toEqual({ per_query_usd: 0.002, unit: 'per_1m_tokens' })
    expect((await t.price('mistral/ocr-house')).prices).toEqual({ per_page_usd: 0.001, unit: 'per_1m_tokens' })
    // For calculations: nano-USD for a million of them.
    expect(t.rateCard.media('openai', 'dall-e-3', { size: '1024x1024', quality: 'hd' })).toEqual({
      perImage: 80_000_000_000_000,
      source: 'primary',
      ref: 'primary:1',
    })
    expect(t.rateCard.media('openai', 'nothing-known')).toEqual({ source: 'none', ref: null })
  })

  it('shows in /v1/models, where zero is not known and what we know better stays', async () => {
    const key = bearer((await makeKey(t)).key)
    const { data } = (await (await t.fetch('/v1/models', { headers: key })).json()) as { data: Record<string, unknown>[] }
    const of = (id: string) => data.find((model) => model.id === id)
    expect(of('openai/house-model')).toMatchObject({
      context_window: 32_000,
      max_output_tokens: 32_000,
      mode: 'chat',
      capabilities: { reasoning: true, parallel_function_calling: false },
      pricing: { input: 1, output: 4, unit: 'per_1m_tokens' },
    })
    expect(of('openai/gpt-4o')).toMatchObject({ context_window: 128_000, pricing: { input: 2.5, output: 10, cache_read: 1.25 } })
    expect(of('openai/free-for-now')).toMatchObject({ context_window: 8000 })
    for (const id of ['openai/free-for-now', 'ollama/house-llama']) expect(of(id)?.pricing, id).toBeUndefined()
    for (const { id, pricing } of data)
      for (const price of Object.values((pricing ?? {}) as object)) expect(price, String(id)).not.toBe(0)
  })

  it('lists page by page, with what is filtered for', async () => {
    type Page = { data: { model: string }[]; next_cursor: string | null }
    const seen: string[] = []
    for (let cursor: string | null = ''; cursor !== null; ) {
      const page: Page = await t.get(`/api/pricing/resolve?limit=7${cursor && `&cursor=${encodeURIComponent(cursor)}`}`)
      expect(page.data.length).toBeLessThanOrEqual(7)
      seen.push(...page.data.map(({ model }) => model))
      cursor = page.next_cursor
    }
    expect(seen).toEqual([...new Set(seen)].sort())
    expect(seen).toEqual(expect.arrayContaining(['openai/gpt-4o', 'groq/openai/gpt-oss-house', 'ollama/house-llama']))
    const filtered = async (query: string) => (await t.get<Page>(`/api/pricing/resolve?${query}`)).data.map(({ model }) => model)
    expect(await filtered('provider=gemini')).toEqual(['google/gemini-only-on-vertex', 'google/gemini-tiered'])
    expect(await filtered('q=HOUSE&provider=openai')).toEqual([
      ...['openai/house-model', 'openai/text-embedding-house', 'openai/tts-house', 'openai/whisper-house'],
    ])
    expect(await filtered('drift=true')).toEqual([])
  })
})

describe('the fallback card', () => {
  let t: World
  beforeAll(async () => {
    t = await world()
    t.cards.primary = { status: 500, body: 'broken' }
    expect(await t.sync()).toMatchObject({
      status: 'ok',
      source: 'fallback',
      ref: null,
      error: 'primary: The source answered 500.',
    })
  })
  afterAll(() => t.close())

  it('is USD per million, and says the same of the same model', async () => {
    expect(await t.price('openai/gpt-4o')).toMatchObject({
      prices: { input: 2.5, output: 10, cache_read: 1.25, unit: 'per_1m_tokens' },
      source: 'fallback',
      price_ref: 'fallback:1',
      matched_key: 'openai/gpt-4o',
    })
    expect((await t.price('openai/second-model')).prices).toEqual({
      input: 0.15,
      output: 0.6,
      reasoning: 0.9,
      input_audio: 1.1,
      output_audio: 2.2,
      cache_write: 0.2,
      unit: 'per_1m_tokens',
    })
    for (const [model, above, input] of [
      ['google/older-tier', 200_000, 4],
      ['google/newer-tier', 272_000, 10],
    ] as const)
      expect((await t.price(model)).prices.tiers, model).toEqual([{ above, input, output: expect.any(Number) }])
    expect((await t.price('fireworks/accounts/fireworks/models/x')).prices.input).toBe(0.9)
    expect((await t.price('bedrock/amazon.nova')).prices.input).toBe(0.06)
    expect(await t.price('openai/free-model')).toMatchObject({ prices: { unit: 'per_1m_tokens' } })
  })

  it('says what models can', async () => {
    const known = t.rateCard.resolve('openai', 'second-model')
    expect(known).toMatchObject({ source: 'fallback' })
    const info = await t.get<{ data: { model_group: string }[] }>('/api/models/info')
    expect(info.data.some(({ model_group }) => model_group === 'openai/second-model')).toBe(false)
    const made = await t.post('/api/providers', { provider: 'openai', api_key: 'sk-x', allowed_models: ['second-model'] })
    expect(made.status).toBe(201)
    const shown = (await t.get<{ data: Record<string, unknown>[] }>('/api/models/info')).data
    expect(shown.find(({ model_group }) => model_group === 'openai/second-model')).toMatchObject({
      context_window: 200_000,
      max_output_tokens: 8000,
      mode: 'chat',
      supports_function_calling: true,
      supports_vision: true,
      supports_pdf_input: true,
      supports_audio_input: true,
      supports_reasoning: false,
      supports_response_schema: true,
    })
  })

  it('says of which version a price is, and the reference of usage rows leads to the run that stored it', async () => {
    for (const model of ['openai/gpt-4o', 'openai/second-model']) {
      const { source, ref, price_ref } = await t.price(model)
      const [of, id] = String(price_ref).split(':')
      expect(of, model).toBe(source)
      expect(await t.get(`/api/pricing/runs/${id}`), model).toMatchObject({ id: Number(id), source, ref })
    }
    for (const id of [0, 99_999, 'x']) expect((await t.fetch(`/api/pricing/runs/${id}`)).status).toBe(404)
  })
})
