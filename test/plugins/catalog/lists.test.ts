// The model lists: a connection's models, the models of a key, and the form for each vendor's SDK.
import Anthropic from '@anthropic-ai/sdk'
import { GoogleGenAI } from '@google/genai'
import OpenAI from 'openai'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createTestGateway, type TestGateway } from '../../../adapters/testing/test-gateway.ts'
import { definePlugin } from '../../../core/plugins/define.ts'
import { add, call } from '../connections/support.ts'
import { ask, bearer, errorOf, makeKey } from '../keys/support.ts'

interface Model {
  id: string
  object: string
  created: number
  owned_by: string
  context_window?: number
  max_output_tokens?: number
  mode?: string
  capabilities: Record<string, boolean>
  pricing?: Record<string, number | string>
  targets?: string[]
}

const CANARY = 'sk-catalog-canary-4711'
const PATHS = [
  '/v1/models',
  '/v1/models/image',
  '/v1/models/echo%2Fecho-1',
  '/v1/model_group/info',
  '/v1beta/models',
  '/v1beta/models/echo/echo-1',
]

describe('model lists', () => {
  let t: TestGateway
  let key: string
  beforeAll(async () => {
    t = await createTestGateway({
      config: {
        connections: {
          echo: { provider: 'echo' },
          openai: { provider: 'openai', apiKey: CANARY, baseUrl: 'http://127.0.0.1:9/v1' },
          anthropic: {
            provider: 'anthropic',
            apiKey: CANARY,
            baseUrl: 'http://127.0.0.1:9',
            allowedModels: ['claude-*-4-5', 'claude-made-up'],
          },
          google: { provider: 'google', apiKey: CANARY, enabled: false },
          acme: {
            provider: 'custom',
            baseUrl: 'http://127.0.0.1:9/v1',
            wireFormat: 'chat',
            allowedModels: ['one', 'two', 'glob*'],
            defaultModel: 'one',
          },
        },
      },
    })
    key = (await makeKey(t)).key
  })
  afterAll(() => t.close())
  const get = (path: string, headers: Record<string, string> = bearer(key)) => t.fetch(path, { headers })
  const models = async (path = '/v1/models', as = key): Promise<Model[]> =>
    ((await (await get(path, bearer(as))).json()) as { data: Model[] }).data
  const ids = async (path?: string, as?: string) => (await models(path, as)).map(({ id }) => id)

  it.each(PATHS)('%s needs a valid client key, always', async (path) => {
    expect((await get(path)).status).toBe(200)
    for (const headers of [{}, bearer('nonsense')]) expect((await get(path, headers)).status).toBe(401)
    expect(await (await get(path)).text()).not.toContain(CANARY)
  })

  it('enriches what is known, and never says zero', async () => {
    const list = await models()
    expect(list.find(({ id }) => id === 'openai/gpt-4o')).toEqual({
      id: 'openai/gpt-4o',
      object: 'model',
      created: expect.any(Number),
      owned_by: 'openai',
      context_window: 128_000,
      max_output_tokens: 16_384,
      mode: 'chat',
      capabilities: expect.objectContaining({ function_calling: true, vision: true, reasoning: false }),
      pricing: { input: 2.5, output: 10, cache_read: 1.25, unit: 'per_1m_tokens' },
    })
    expect(list.find(({ id }) => id === 'echo/echo-1')?.pricing).toEqual({ input: 1, output: 2, unit: 'per_1m_tokens' })
    for (const { id, pricing, context_window = 1, max_output_tokens = 1 } of list) {
      for (const price of Object.values(pricing ?? {})) if (price !== 'per_1m_tokens') expect(price, id).toBeGreaterThan(0)
      expect(Math.min(context_window, max_output_tokens), id).toBeGreaterThan(0)
    }
    expect(new Set(list.map(({ id }) => id)).size).toBe(list.length)
  })

  it('allowed_models narrow the list and add what they name; disabled connections list nothing', async () => {
    const of = async (provider: string) => (await ids()).filter((id) => id.startsWith(`${provider}/`))
    expect((await of('anthropic')).sort()).toEqual([
      'anthropic/claude-haiku-4-5',
      'anthropic/claude-made-up',
      'anthropic/claude-opus-4-5',
      'anthropic/claude-sonnet-4-5',
    ])
    expect(await of('acme')).toEqual(['acme/one', 'acme/two'])
    expect(await of('google')).toEqual([])
    const one = (await models()).find(({ id }) => id === 'acme/one')
    expect([one?.mode, one?.context_window, one?.pricing, one?.capabilities]).toEqual(['chat', undefined, undefined, {}])
  })

  it('follows connections as they come and go', async () => {
    const made = await add(t, { provider: 'xai', api_key: CANARY, allowed_models: ['grok-3'] })
    expect(await ids()).toContain('xai/grok-3')
    await call(t, 'PUT', `/api/providers/${made.id}`, { enabled: false })
    expect(await ids()).not.toContain('xai/grok-3')
    await call(t, 'DELETE', `/api/providers/${made.id}`)
  })

  it('shows a key what its allow-list allows, on every list and by id', async () => {
    const { key: narrow } = await makeKey(t, { allowed_models: ['openai/gpt-4o*', 'echo/*'] })
    for (const path of ['/v1/models', '/v1/model_group/info', '/v1/models/image', '/v1beta/models']) {
      const text = await (await get(path, bearer(narrow))).text()
      expect(text, path).not.toMatch(/anthropic|acme|gpt-4\.1/)
    }
    expect(await ids('/v1/models', narrow)).toContain('openai/gpt-4o-mini')
    expect((await get('/v1/models/openai%2Fgpt-4o', bearer(narrow))).status).toBe(200)
    for (const path of ['/v1/models/openai%2Fgpt-4.1', '/v1beta/models/openai/gpt-4.1'])
      expect((await get(path, bearer(narrow))).status, path).toBe(404)
  })

  it('gives one model by id, listed or dated, and 404 for what nobody knows', async () => {
    for (const path of ['/v1/models/openai/gpt-4o', '/v1/models/openai%2Fgpt-4o'])
      expect(await (await get(path)).json(), path).toMatchObject({ id: 'openai/gpt-4o', context_window: 128_000 })
    expect(await (await get('/v1/models/openai%2Fgpt-4o-2024-08-06')).json()).toMatchObject({ pricing: { input: 2.5 } })
    const unknown = [
      'openai%2Fno-such',
      'nobody%2Fm',
      'gpt-4o',
      'anthropic%2Fclaude-opus-4-1',
      'google%2Fgemini-2.5-pro',
      '%zz',
      'openai%252Fgpt-4o',
      '%20openai%2Fgpt-4o',
    ]
    for (const id of unknown)
      expect(await errorOf(await get(`/v1/models/${id}`)), id).toMatchObject({
        status: 404,
        code: 'model_not_found',
        param: 'model',
      })
    expect((await get('/v1/models/')).status).toBe(404)
    expect((await t.post('/v1/models', {}, bearer(key))).headers.get('allow')).toBe('GET')
    expect((await t.post('/v1/models/openai/gpt-4o', {}, bearer(key))).status).toBe(405)
  })

  it('lists image models apart, and groups with flags', async () => {
    const images = await models('/v1/models/image')
    expect(images.length).toBeGreaterThan(0)
    for (const { id, mode } of images) expect([id, mode]).toEqual([expect.stringContaining('image'), 'image_generation'])
    const groups = (await (await get('/v1/model_group/info')).json()) as { data: Record<string, unknown>[] }
    expect(groups.data.find(({ model_group }) => model_group === 'openai/gpt-4o')).toMatchObject({
      providers: ['openai'],
      context_window: 128_000,
      max_output_tokens: 16_384,
      mode: 'chat',
      supports_function_calling: true,
      supports_vision: true,
    })
  })

  it('is the same for the dashboard, and says per account what could be allowed', async () => {
    expect(await (await t.fetch('/api/models')).json()).toEqual(await (await get('/v1/models')).json())
    expect(await (await t.fetch('/api/models/info')).json()).toEqual(await (await get('/v1/model_group/info')).json())
    const catalog = async (query = '') =>
      ((await (await t.fetch(`/api/model-catalog${query}`)).json()) as { data: Record<string, unknown>[] }).data
    const all = await catalog()
    expect(all.find(({ model }) => model === 'anthropic/claude-opus-4-1')).toMatchObject({ allowed: false, source: 'catalog' })
    expect(all.find(({ model }) => model === 'anthropic/claude-made-up')).toMatchObject({ allowed: true, source: 'connection' })
    expect(all.some(({ provider }) => provider === 'google')).toBe(true)
    expect(new Set((await catalog('?provider=gemini')).map(({ provider }) => provider))).toEqual(new Set(['google']))
    expect((await catalog('?q=GPT-4O-MINI')).every(({ model }) => String(model).includes('gpt-4o-mini'))).toBe(true)
    const [first] = all
    const own = await catalog(`?connection_id=${first?.connection_id}`)
    expect(new Set(own.map(({ connection_id }) => connection_id))).toEqual(new Set([first?.connection_id]))
    expect((await t.fetch('/api/model-catalog?connection_id=x')).status).toBe(400)
    expect((await t.fetch('/api/model-catalog?nope=1')).status).toBe(400)
    expect(JSON.stringify(all)).not.toContain(CANARY)
  })

  it("answers the official SDKs' models.list and what is behind it", async () => {
    const { port } = await t.listen()
    const origin = `http://127.0.0.1:${port}`
    const openai = new OpenAI({ apiKey: key, baseURL: `${origin}/v1` })
    const listed: string[] = []
    for await (const model of openai.models.list()) listed.push(model.id)
    expect(listed).toEqual(await ids())
    expect((await openai.models.retrieve('echo/echo-1')).owned_by).toBe('echo')

    const anthropic = new Anthropic({ apiKey: key, baseURL: origin })
    const seen: string[] = []
    for await (const model of anthropic.models.list({ limit: 5 })) seen.push(model.id)
    expect(seen).toEqual(listed)
    expect(await anthropic.models.retrieve('anthropic/claude-sonnet-4-5')).toMatchObject({
      type: 'model',
      created_at: expect.stringMatching(/Z$/),
      max_input_tokens: 200_000,
      max_tokens: 64_000,
    })

    const google = new GoogleGenAI({ apiKey: key, httpOptions: { baseUrl: origin } })
    const names: string[] = []
    for await (const model of await google.models.list()) names.push(String(model.name))
    // Virtual models are not served on /v1beta.
    expect(names).toEqual(listed.filter((id) => id !== 'auto').map((id) => `models/${id}`))
    expect(await google.models.get({ model: 'echo/echo-1' })).toMatchObject({ inputTokenLimit: 128_000, outputTokenLimit: 8192 })
    const answer = await google.models.generateContent({ model: names[0] as string, contents: 'hello' })
    expect(answer.text).toBe('hello')
  })
})

describe('virtual models of another plugin', () => {
  it('are listed with what their targets have together, and not on /v1beta', async () => {
    const pair = definePlugin({
      name: 'pair',
      requires: ['modelCatalogue'],
      setup(gateway) {
        const targets = [
          { provider: 'openai', model: 'gpt-4o' },
          { provider: 'anthropic', model: 'claude-sonnet-4-5' },
          { provider: 'nobody', model: 'unknown' },
        ]
        return gateway.use('modelCatalogue').virtual({
          list: () => [
            { id: 'smart', createdAt: 5000, modality: 'text', targets },
            { id: 'painter', createdAt: 5000, modality: 'image', targets: [{ provider: 'openai', model: 'gpt-image-1' }] },
          ],
        })
      },
    })
    const t = await createTestGateway({ config: { connections: { echo: { provider: 'echo' } } }, plugins: [pair()] })
    const headers = bearer((await makeKey(t)).key)
    const get = async (path: string) => (await t.fetch(path, { headers })).json() as Promise<{ data: Model[] }>
    expect((await get('/v1/models')).data.find(({ id }) => id === 'smart')).toEqual({
      id: 'smart',
      object: 'model',
      created: 5,
      owned_by: 'virtual',
      context_window: 200_000,
      max_output_tokens: 16_384,
      mode: 'chat',
      capabilities: expect.objectContaining({ vision: true, reasoning: true }),
      pricing: { input: 3, output: 15, cache_read: 0.3, cache_write: 3.75, unit: 'per_1m_tokens' },
      targets: ['openai/gpt-4o', 'anthropic/claude-sonnet-4-5', 'nobody/unknown'],
    })
    expect((await get('/v1/models/image')).data).toMatchObject([
      { id: 'painter', owned_by: 'virtual', targets: ['openai/gpt-image-1'] },
    ])
    expect(JSON.stringify(await get('/v1beta/models'))).not.toMatch(/smart|painter/)
    const refused = await t.fetch('/v1beta/models/smart', { headers })
    expect(refused.status).toBe(400)
    await t.close()
  })
})

describe('a connection without a model of its own', () => {
  it('is tested with the cheapest known one', async () => {
    const t = await createTestGateway({ config: { connections: { echo: { provider: 'echo' } } } })
    const { data } = (await (await t.fetch('/api/providers')).json()) as { data: { id: number }[] }
    const tested = await call(t, 'POST', `/api/providers/${data[0]?.id}/test`, {})
    expect(await tested.json()).toMatchObject({ ok: true, model: 'echo-1' })
    const hidden = await add(t, {
      provider: 'openai',
      api_key: CANARY,
      base_url: t.upstream.baseUrl('chat'),
      allowed_models: ['gpt-4o*'],
    })
    const verdict = await (await call(t, 'POST', `/api/providers/${hidden.id}/test`, {})).json()
    expect(verdict).toMatchObject({ ok: true, model: expect.stringMatching(/^gpt-4o-mini/) })
    expect((await t.post('/v1/chat/completions', ask('openai/gpt-4o'))).status).toBe(200)
    await t.close()
  })
})
