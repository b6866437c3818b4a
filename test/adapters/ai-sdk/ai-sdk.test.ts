// The provider of the AI SDK, in process and by address.
import {
  APICallError,
  embedMany,
  generateImage,
  experimental_generateSpeech as generateSpeech,
  generateText,
  Output,
  stepCountIs,
  streamText,
  tool,
  experimental_transcribe as transcribe,
} from 'ai'
import { afterEach, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { createHookgate, type HookgateFacts, type HookgateProvider } from '../../../adapters/ai-sdk/index.ts'
import { choose, createTestGateway, fail, reply, type Step, text } from '../../../adapters/testing/index.ts'
import { SCRIPTED_AUDIO, SCRIPTED_TEXT } from '../../../adapters/testing/operations/audio.ts'
import { SCRIPTED_IMAGE } from '../../../adapters/testing/operations/images.ts'
import { scriptedVector } from '../../../adapters/testing/operations/vendor.ts'
import { type Vendors, vendors } from '../../operations/support.ts'

let v: Vendors
afterEach(() => v.close())

const WAYS: [string, () => Promise<HookgateProvider>][] = [
  ['in process', async () => createHookgate({ gateway: v.t.gateway })],
  ['by address', async () => createHookgate({ baseURL: `http://127.0.0.1:${(await v.t.listen()).port}` })],
]
const MODEL = 'openai/gpt-4o-mini'
const start = async (upstream?: Step[], env: Record<string, string> = {}) => {
  v = await vendors(['openai'], { ...(upstream && { upstream }), env })
}
const served = { provider: 'openai', attempts: 1, requestId: expect.stringMatching(/^req_/), warnings: [] }

describe.each(WAYS)('%s', (way, connect) => {
  const costUsd = way === 'in process' ? expect.closeTo(12 * 0.15e-6 + 7 * 0.6e-6, 12) : null

  it('generates text, with the facts of the gateway', async () => {
    await start([text('Hello.')])
    const hookgate = await connect()
    const made = await generateText({ model: hookgate(MODEL), prompt: 'Hi', maxRetries: 0 })
    expect(made.text).toBe('Hello.')
    expect(made.usage).toMatchObject({ inputTokens: 12, outputTokens: 7 })
    const facts: HookgateFacts = { ...served, model: 'gpt-4o-mini', cache: 'miss', cacheType: null, costUsd } as HookgateFacts
    expect(made.providerMetadata?.hookgate).toMatchObject(facts)
    expect(made.providerMetadata?.hookgate?.requestId).toBe(v.t.settled[0]?.ctx.id)
  })

  it('streams with tools over two turns', async () => {
    await start([
      choose(({ text: body }) =>
        body.includes('17 degrees')
          ? text('It is 17 degrees.')
          : reply({ toolCalls: [{ id: 'call_1', name: 'weather', args: '{"city":"Oslo"}' }] }),
      ),
    ])
    const asked: string[] = []
    const result = streamText({
      model: (await connect()).languageModel(MODEL),
      prompt: 'What is the weather in Oslo?',
      maxRetries: 0,
      stopWhen: stepCountIs(3),
      tools: {
        weather: tool({
          inputSchema: z.object({ city: z.string() }),
          execute: async ({ city }) => {
            asked.push(city)
            return '17 degrees'
          },
        }),
      },
    })
    let streamed = ''
    for await (const piece of result.textStream) streamed += piece
    expect([streamed, asked]).toEqual(['It is 17 degrees.', ['Oslo']])
    const steps = await result.steps
    expect(steps).toHaveLength(2)
    for (const [at, { providerMetadata }] of steps.entries())
      expect(providerMetadata?.hookgate).toMatchObject({ ...served, costUsd, requestId: v.t.settled[at]?.ctx.id })
    expect((await result.totalUsage).outputTokens).toBe(14)
  })

  it('generates an object by a schema', async () => {
    await start([text('{"city":"Oslo"}')])
    const output = Output.object({ schema: z.object({ city: z.string() }) })
    const made = await generateText({ model: (await connect())(MODEL), prompt: 'A city', output, maxRetries: 0 })
    expect(made.output).toEqual({ city: 'Oslo' })
    expect(v.vendor.requests[0]?.text).toContain('json_schema')
  })

  it('says when a cache answered, and at no cost', async () => {
    await start([text('Hello.')], { DEDUP_TTL_MS: '600000' })
    const model = (await connect())(MODEL)
    const ask = () => generateText({ model, prompt: 'Hi', temperature: 0, maxRetries: 0 })
    await ask()
    const second = (await ask()).providerMetadata?.hookgate
    expect(second).toMatchObject({ cache: 'hit', cacheType: 'exact', attempts: 0, costUsd: way === 'in process' ? 0 : null })
    expect(v.vendor.requests).toHaveLength(1)
  })

  it('embeds', async () => {
    await start()
    const hookgate = await connect()
    const model = hookgate.textEmbeddingModel('openai/text-embedding-3-small')
    const made = await embedMany({ model, values: ['a', 'bb'], maxRetries: 0 })
    expect(made.embeddings).toEqual([scriptedVector('a'), scriptedVector('bb')])
    expect(made.providerMetadata?.hookgate).toMatchObject({ ...served, model: 'text-embedding-3-small' })
  })

  it('generates images', async () => {
    await start()
    const model = (await connect()).imageModel('openai/dall-e-2')
    const made = await generateImage({ model, prompt: 'a cat', n: 2, size: '512x512', maxRetries: 0 })
    expect(made.images.map(({ base64 }) => base64)).toEqual([SCRIPTED_IMAGE, SCRIPTED_IMAGE])
    expect(made.providerMetadata.hookgate?.images).toMatchObject([served, served])
  })

  it('speaks', async () => {
    await start()
    const model = (await connect()).speechModel('openai/tts-1')
    const made = await generateSpeech({
      model,
      text: 'hi',
      voice: 'nova',
      outputFormat: 'mp3',
      speed: 1.5,
      language: 'en',
      maxRetries: 0,
    })
    expect(Buffer.from(made.audio.uint8Array)).toEqual(SCRIPTED_AUDIO)
    expect(v.vendor.requests[0]?.json).toEqual({ model: 'tts-1', input: 'hi', voice: 'nova', response_format: 'mp3', speed: 1.5 })
    expect(made.providerMetadata.hookgate).toMatchObject(served)
    expect(made.warnings).toMatchObject([{ type: 'unsupported', feature: 'language' }])
  })

  it('transcribes', async () => {
    await start()
    const model = (await connect()).transcriptionModel('openai/whisper-1')
    const made = await transcribe({
      model,
      audio: Buffer.from('a recording'),
      providerOptions: { hookgate: { language: 'en', response_format: 'verbose_json' } },
      maxRetries: 0,
    })
    expect(made.text).toBe(SCRIPTED_TEXT)
    expect(v.vendor.requests[0]?.text).toContain('name="language"\r\n\r\nen\r\n')
    expect(made.durationInSeconds).toBeGreaterThan(0)
    expect(made.providerMetadata.hookgate).toMatchObject(served)
  })

  it('throws a refused budget as an error of the AI SDK with message, field and code', async () => {
    await start()
    await v.t.post('/api/budgets', { scope: 'org', window: 'daily', hard_limit_usd: 0 })
    const error = await generateText({ model: (await connect())(MODEL), prompt: 'Hi', maxRetries: 0 }).catch((e: unknown) => e)
    if (!APICallError.isInstance(error)) throw error
    expect(error).toMatchObject({ statusCode: 402, isRetryable: false, data: { error: { code: 'budget_exhausted' } } })
    expect(error.message).toContain('budget')
    expect(error.responseHeaders?.['x-gateway-request-id']).toMatch(/^req_/)
  })

  it.each([
    ['chat', (hookgate: HookgateProvider) => generateText({ model: hookgate(MODEL), prompt: 'Hi', maxRetries: 0 })],
    [
      'speech',
      (hookgate: HookgateProvider) => generateSpeech({ model: hookgate.speechModel('openai/tts-1'), text: 'Hi', maxRetries: 0 }),
    ],
  ])('throws a rate limit of the upstream: %s', async (_, ask) => {
    await start([fail(429, { message: 'slow down' })])
    const error = await ask(await connect()).catch((e: unknown) => e)
    if (!APICallError.isInstance(error)) throw error
    expect(error).toMatchObject({ statusCode: 429, isRetryable: true })
    expect(error.message).toContain('slow down')
    expect(error.data).toMatchObject({ error: { message: error.message, param: null } })
  })

  it.each([
    [
      'chat',
      'temperature',
      (hookgate: HookgateProvider) => generateText({ model: hookgate(MODEL), prompt: 'Hi', temperature: 9, maxRetries: 0 }),
    ],
    [
      'speech',
      'speed',
      (hookgate: HookgateProvider) =>
        generateSpeech({ model: hookgate.speechModel('openai/tts-1'), text: 'Hi', speed: 9, maxRetries: 0 }),
    ],
  ])('names the field that is wrong: %s', async (_, param, ask) => {
    await start()
    const error = await ask(await connect()).catch((e: unknown) => e)
    if (!APICallError.isInstance(error)) throw error
    expect(error).toMatchObject({ statusCode: 400, data: { error: { param } } })
    expect(error.message).toContain(param)
  })
})

it('sends the client key and the headers, and passes the context on', async () => {
  await start([text('Hello.')], { REQUIRE_API_KEY: 'true' })
  const { key: secret } = (await (await v.t.post('/api/keys', { label: 'app' })).json()) as { key: string }
  const ask = (apiKey?: string) =>
    generateText({
      model: createHookgate({ gateway: v.t.gateway, apiKey, context: CONTEXT, headers: { 'x-gateway-user-id': 'dana' } })(MODEL),
      prompt: 'Hi',
      maxRetries: 0,
    })
  await expect(ask()).rejects.toMatchObject({ statusCode: 401 })
  await ask(secret)
  const { ctx } = v.t.settled.at(-1) ?? {}
  expect([ctx?.principal.label, ctx?.userId, ctx?.host]).toEqual(['app', 'dana', CONTEXT])
})
const CONTEXT = { tenant: 'acme' } as object

it('refuses an address that is none, and takes one with /v1', async () => {
  await start([text('Hello.')])
  expect(() => createHookgate({ baseURL: 'gateway' })).toThrow('baseURL')
  const { port } = await v.t.listen()
  const model = createHookgate({ baseURL: `http://127.0.0.1:${port}/v1/` })(MODEL)
  expect((await generateText({ model, prompt: 'Hi', maxRetries: 0 })).text).toBe('Hello.')
})

it('tells a caller of fetch how a request was settled', async () => {
  const t = await createTestGateway({ upstream: [text('Hello.')] })
  v = { t, vendor: t.upstream, close: () => t.close() }
  const seen: (number | null)[] = []
  const ask = (path: string) =>
    new Promise<void>((resolve) => {
      const request = new Request(`http://gateway.test${path}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ model: 'chat/m', messages: [{ role: 'user', content: 'hi' }] }),
      })
      const settled = (outcome: { status: number } | null) => {
        seen.push(outcome?.status ?? null)
        resolve()
      }
      void t.gateway.fetch(request, { local: true, settled }).then((response) => response.text())
    })
  await ask('/v1/chat/completions')
  await ask('/v1/unknown')
  expect(seen).toEqual([200, null])
})
