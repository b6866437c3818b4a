// The AI SDK with its defaults: it stores, and sends references to stored items from the second turn on.
import { createOpenAI } from '@ai-sdk/openai'
import { generateText, stepCountIs, streamText, tool } from 'ai'
import { afterEach, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { reply } from '../../../adapters/testing/script.ts'
import { createTestGateway, type TestGateway } from '../../../adapters/testing/test-gateway.ts'

let t: TestGateway
afterEach(() => t.close())

const STEPS = () => [
  reply({ toolCalls: [{ id: 'call_1', name: 'weather', args: '{"city":"Rome"}' }] }),
  reply({ text: 'Sunny.' }),
  reply({ text: 'You are welcome.' }),
]
const tools = {
  weather: tool({ inputSchema: z.object({ city: z.string() }), execute: async ({ city }) => `25 degrees in ${city}` }),
}

describe.each(['chat', 'messages', 'generate_content', 'responses'])('openai() over %s', (dialect) => {
  it.each([false, true])('two turns with a tool, stream %s', async (stream) => {
    t = await createTestGateway({ upstream: STEPS(), env: { RESPONSES_STATE: 'true' } })
    const fetch: typeof globalThis.fetch = (url, init) => t.fetch(new URL(String(url)).pathname, init)
    const model = createOpenAI({ baseURL: 'http://127.0.0.1/v1', apiKey: 'none', fetch })(`${dialect}/m`)
    const ask = async (messages: Parameters<typeof generateText>[0]['messages']) => {
      const call = { model, messages: messages ?? [], tools, stopWhen: stepCountIs(3), maxRetries: 0 }
      if (!stream) return generateText(call)
      const answer = streamText(call)
      return { text: await answer.text, response: await answer.response }
    }
    const question = { role: 'user' as const, content: 'Weather in Rome?' }
    const first = await ask([question])
    expect(first.text).toBe('Sunny.')
    const thanks = { role: 'user' as const, content: 'Thanks!' }
    const second = await ask([question, ...first.response.messages, thanks])
    expect(second.text).toBe('You are welcome.')
    const sent = JSON.stringify(t.upstream.requests.at(-1)?.json)
    // Also an upstream of the same dialect may store nothing: this one says so in its answers.
    for (const text of ['Weather in Rome?', '25 degrees in Rome', 'Sunny.', 'Thanks!']) expect(sent).toContain(text)
    expect(sent).not.toContain('item_reference')
  })
})
