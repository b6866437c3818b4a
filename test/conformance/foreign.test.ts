// Strict third-party clients: the AI SDK's providers parse every answer with their own schemas, and so find errors that our decoder and
// our scripted vendor share. Each runs against all four upstream dialects.
import { createAnthropic } from '@ai-sdk/anthropic'
import { createGoogleGenerativeAI } from '@ai-sdk/google'
import { createOpenAI } from '@ai-sdk/openai'
import { generateText, type LanguageModel, Output, stepCountIs, streamText, tool } from 'ai'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { reply } from '../../adapters/testing/script.ts'
import type { Dialect } from '../../core/types/request/canonical.ts'
import { DIALECTS } from './neutral.ts'
import { member } from './readers/wire.ts'
import { MODELS, READERS, REASONING_MODELS, startWorld, type World } from './world.ts'

let world: World
beforeAll(async () => {
  world = await startWorld()
})
afterAll(() => world.close())
beforeEach(() => {
  world.upstream.requests.length = 0
})

const CLIENTS: Readonly<Record<Dialect, (model: string) => LanguageModel>> = {
  chat: (model) => openai().chat(model),
  messages: (model) => createAnthropic({ baseURL: `${world.url}/v1`, apiKey: 'sk-client' })(model),
  responses: (model) => openai().responses(model),
  generate_content: (model) => createGoogleGenerativeAI({ baseURL: `${world.url}/v1beta`, apiKey: 'sk-client' })(model),
}

function openai() {
  return createOpenAI({ baseURL: `${world.url}/v1`, apiKey: 'sk-client' })
}

const PAIRS = DIALECTS.flatMap((caller) => DIALECTS.map((upstream) => ({ caller, upstream })))
const USAGE = { input: 120, cacheRead: 70, output: 30, reasoning: 10 }
const CALL = { toolCalls: [{ id: 'call_1', name: 'get_weather', args: '{"city":"Zürich"}' }] }

function weather(seen: string[]) {
  return {
    get_weather: tool({
      description: 'The weather of a city.',
      inputSchema: z.object({ city: z.string() }),
      execute: async ({ city }) => {
        seen.push(city)
        return 'sunny'
      },
    }),
  }
}

describe.each(PAIRS)('AI SDK: $caller → $upstream', ({ caller, upstream }) => {
  const model = () => CLIENTS[caller](MODELS[upstream])

  it('text', async () => {
    world.upstream.script(reply({ text: 'Good day 👋', usage: USAGE }))
    const result = await generateText({ model: model(), system: 'Be brief.', prompt: 'Hello?', maxRetries: 0 })
    expect(result.text).toBe('Good day 👋')
    expect(result.finishReason).toBe('stop')
    expect(result.usage).toMatchObject({ inputTokens: 120, cachedInputTokens: 70, outputTokens: 30, totalTokens: 150 })
    expect(READERS[upstream](world.upstream.requests[0]!)).toMatchObject({
      system: 'Be brief.',
      turns: [{ role: 'user', pieces: [{ t: 'text', text: 'Hello?' }] }],
    })
  })

  it('text, streamed', async () => {
    world.upstream.script(reply({ text: 'Good day, and good night.', usage: USAGE }))
    const errors: unknown[] = []
    const result = streamText({
      model: model(),
      prompt: 'Hello?',
      maxRetries: 0,
      onError: ({ error }) => void errors.push(error),
    })
    const pieces: string[] = []
    for await (const piece of result.textStream) pieces.push(piece)
    expect(errors).toEqual([])
    expect(pieces.join('')).toBe('Good day, and good night.')
    expect(pieces.length).toBeGreaterThan(1)
    expect(await result.finishReason).toBe('stop')
    expect(await result.usage).toMatchObject({ inputTokens: 120, outputTokens: 30 })
  })

  it.each([false, true])('a tool loop (streamed: %s)', async (stream) => {
    world.upstream.script(reply(CALL), reply({ text: 'It is sunny.' }))
    const cities: string[] = []
    const request = {
      model: model(),
      prompt: 'Weather in Zürich?',
      tools: weather(cities),
      stopWhen: stepCountIs(2),
      maxRetries: 0,
    }
    const result = stream ? streamText(request) : await generateText(request)
    expect(await result.text).toBe('It is sunny.')
    expect((await result.steps).map((step) => step.finishReason)).toEqual(['tool-calls', 'stop'])
    expect(cities).toEqual(['Zürich'])
    // The AI SDK's Google model sends {name, content}: the words must be there in any form.
    expect(world.upstream.requests[1]!.text).toContain('sunny')
  })

  it('an object under a schema', async () => {
    const args = '{"city":"Rome","degrees":21}'
    // For an unknown model the AI SDK's Anthropic provider uses a forced tool.
    const forced = caller === 'messages' && upstream !== 'messages'
    world.upstream.script(reply(forced ? { toolCalls: [{ id: 'call_1', name: 'json', args }] } : { text: args }))
    const schema = z.object({ city: z.string(), degrees: z.number() })
    const result = await generateText({ model: model(), prompt: 'Rome', output: Output.object({ schema }), maxRetries: 0 })
    expect(result.output).toEqual({ city: 'Rome', degrees: 21 })
    const asked = READERS[upstream](world.upstream.requests[0]!)
    expect(member(forced ? asked.tools[0]?.schema : asked.schema, 'properties', 'degrees', 'type')).toBe('number')
  })

  it.each([false, true])('reasoning beside the answer (streamed: %s)', async (stream) => {
    const signature = upstream === 'chat' ? {} : { signature: Buffer.from('secret').toString('base64') }
    world.upstream.script(reply({ reasoning: { text: 'Let me think.', ...signature }, text: 'Yes.' }))
    const request = { model: CLIENTS[caller](REASONING_MODELS[upstream]), prompt: 'Is it?', maxRetries: 0 }
    const result = stream ? streamText(request) : await generateText(request)
    expect(await result.text).toBe('Yes.')
    // The AI SDK's chat model does not support reasoning.
    if (caller !== 'chat') expect(await result.reasoningText).toBe('Let me think.')
  })

  it('a cut answer', async () => {
    world.upstream.script(reply({ text: 'This is the beg', finish: 'length' }))
    const result = await generateText({ model: model(), prompt: 'Tell me.', maxOutputTokens: 16, maxRetries: 0 })
    expect(result.finishReason).toBe('length')
  })
})
