// The service `modelFacts`: three sources in order, prices as integers, and other plugins' layers over them.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createTestGateway, type TestGateway } from '../../../adapters/testing/test-gateway.ts'
import { definePlugin } from '../../../core/plugins/define.ts'
import type { ModelFactsService } from '../../../plugins/catalog/service.ts'

describe('model facts', () => {
  let t: TestGateway
  let service: ModelFactsService
  beforeAll(async () => {
    const user = definePlugin({
      name: 'user',
      requires: ['modelFacts'],
      setup(gateway) {
        service = gateway.use('modelFacts')
      },
    })
    t = await createTestGateway({ config: { connections: {} }, plugins: [user()] })
  })
  afterAll(() => t.close())

  it('gives prices in nano-USD per million tokens, the base and the tiers above it', () => {
    expect(service.facts('openai', 'gpt-4o').price).toEqual({
      input: 2_500_000_000,
      output: 10_000_000_000,
      cacheRead: 1_250_000_000,
    })
    expect(service.facts('google', 'gemini-2.5-pro').price).toEqual({
      input: 1_250_000_000,
      output: 10_000_000_000,
      cacheRead: 125_000_000,
      tiers: [{ above: 200_000, input: 2_500_000_000, output: 15_000_000_000, cacheRead: 250_000_000 }],
    })
    expect(service.facts('anthropic', 'claude-sonnet-4-5-20250929').price).toMatchObject({
      cacheWrite: 3_750_000_000,
      cacheWrite1h: 6_000_000_000,
    })
  })

  it('takes our own facts before the driver’s, and both before the card’s', () => {
    // The driver includes the answer in the context window.
    expect(service.facts('google', 'gemini-2.5-flash')).toMatchObject({ contextWindow: 1_048_576, maxOutputTokens: 65_536 })
    expect(service.facts('anthropic', 'claude-opus-4-6')).toMatchObject({ contextWindow: 1_000_000, maxOutputTokens: 128_000 })
    expect(service.facts('groq', 'llama-3.3-70b-versatile')).toMatchObject({ contextWindow: 131_072, maxOutputTokens: 32_768 })
    expect(service.facts('deepseek', 'deepseek-chat').price).toBeUndefined()
    expect(service.facts('azure', 'gpt-4o')).toMatchObject({ contextWindow: 128_000, price: { input: 2_500_000_000 } })
  })

  it('says nothing of what it does not know', () => {
    expect(service.facts('openai', 'no-such-model')).toEqual({ capabilities: {} })
    expect(service.facts('acme', 'gpt-4o')).toEqual({ capabilities: {} })
    expect(service.facts('ollama', 'llama3')).toEqual({ capabilities: {} })
    for (const provider of ['__proto__', 'constructor', 'toString'])
      for (const model of ['__proto__', 'constructor', 'gpt-4o'])
        expect(service.facts(provider, model), `${provider}/${model}`).toEqual({ capabilities: {} })
  })

  it('does not take a speech or embedding model for one that chats', () => {
    expect(service.facts('openai', 'gpt-4o-mini-tts')).toMatchObject({ mode: 'audio_speech', capabilities: {} })
    expect(service.facts('openai', 'gpt-4o-transcribe')).toMatchObject({ mode: 'audio_transcription', capabilities: {} })
    expect(service.facts('openai', 'text-embedding-3-small')).toMatchObject({ mode: 'embedding', capabilities: {} })
    expect(service.facts('google', 'gemini-2.5-flash-image')).toMatchObject({ mode: 'image_generation', capabilities: {} })
  })

  it('lets later layers win until they are taken back', () => {
    const before = service.facts('openai', 'gpt-4o')
    const undo = [
      service.layer((_provider, model) => (model === 'gpt-4o' ? { price: { input: 1 }, capabilities: { vision: false } } : null)),
      service.layer((_provider, model) => (model === 'gpt-4o' ? { contextWindow: 5, price: { input: 2, output: 3 } } : null)),
    ]
    expect(service.facts('openai', 'gpt-4o')).toEqual({
      ...before,
      contextWindow: 5,
      price: { input: 2, output: 3 },
      capabilities: { ...before.capabilities, vision: false },
    })
    expect(service.facts('openai', 'gpt-4o-mini').price).toMatchObject({ input: 150_000_000 })
    for (const back of undo) back()
    expect(service.facts('openai', 'gpt-4o')).toEqual(before)
  })
})
