// A third-party mock vendor (aimock) behind the gateway. It has its own view of the four APIs, its own request checks and its own
// streams, and so finds errors that our scripted upstream and our decoders share.
import { LLMock } from '@copilotkit/aimock'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { createTestGateway, type TestGateway } from '../../adapters/testing/test-gateway.ts'
import type { Dialect } from '../../core/types/request/canonical.ts'
import type { Caller } from './callers/caller.ts'
import { chatCaller } from './callers/chat.ts'
import { generateContentCaller } from './callers/generate-content.ts'
import { messagesCaller } from './callers/messages.ts'
import { responsesCaller } from './callers/responses.ts'
import { ask, assistant, DIALECTS, user } from './neutral.ts'

const MODELS: Readonly<Record<Dialect, string>> = {
  chat: 'openai/gpt-4.1-mini',
  messages: 'anthropic/claude-sonnet-4-5',
  responses: 'openai/gpt-5.6-mini',
  generate_content: 'google/gemini-3-flash',
}
const CALLERS = {
  chat: chatCaller,
  messages: messagesCaller,
  responses: responsesCaller,
  generate_content: generateContentCaller,
}
const TOOLS = [
  {
    name: 'get_weather',
    description: 'The weather of a city.',
    schema: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'], additionalProperties: false },
  },
]

let vendor: LLMock
let gateway: TestGateway
let callers: Record<Dialect, Caller>

beforeAll(async () => {
  vendor = new LLMock({ port: 0 })
  vendor.onToolResult('call_weather_1', { content: 'It is sunny in Rome today.' })
  vendor.onMessage('weather', { toolCalls: [{ id: 'call_weather_1', name: 'get_weather', arguments: '{"city":"Rome"}' }] })
  vendor.onMessage('think', { content: 'Forty-two, I believe.', reasoning: 'I count to forty-two.' })
  vendor.onMessage('hello', { content: 'Hello from a foreign vendor. 👋', usage: { prompt_tokens: 11, completion_tokens: 8 } })
  await vendor.start()
  const at = (dialect: Dialect) => ({
    baseUrl: `${vendor.url}/${dialect === 'generate_content' ? 'v1beta' : 'v1'}`,
    wireFormat: dialect,
    apiKey: 'sk-upstream',
  })
  gateway = await createTestGateway({
    config: {
      connections: {
        'openai-chat': { provider: 'openai', ...at('chat'), allowedModels: ['gpt-4.1*'] },
        'openai-responses': { provider: 'openai', ...at('responses'), allowedModels: ['gpt-5*'] },
        anthropic: { provider: 'anthropic', ...at('messages') },
        google: { provider: 'google', ...at('generate_content') },
      },
    },
  })
  const { url } = await gateway.listen()
  callers = Object.fromEntries(DIALECTS.map((dialect) => [dialect, CALLERS[dialect](url)])) as Record<Dialect, Caller>
})

afterAll(async () => {
  await gateway.close()
  await vendor.stop()
})

beforeEach(() => vendor.clearRequests())

const PAIRS = DIALECTS.flatMap((caller) => DIALECTS.map((upstream) => ({ caller, upstream })))

describe.each(PAIRS)('foreign vendor: $caller → $upstream', ({ caller, upstream }) => {
  it.each([false, true])('text (streamed: %s)', async (stream) => {
    const turns = [user('Well, hello there')]
    const { answer, failure } = await callers[caller].send(MODELS[upstream], ask({ system: 'Be kind.', turns }), stream)
    expect(failure).toBeNull()
    expect(answer).toMatchObject({ text: 'Hello from a foreign vendor. 👋', finish: 'stop', refusal: '', calls: [] })
    expect(answer?.usage.input).toBeGreaterThan(0)
    expect(answer?.usage.output).toBeGreaterThan(0)
    const seen = vendor.getLastRequest()?.body as { messages?: { role: string; content: unknown }[] } | null
    expect(JSON.stringify(seen?.messages)).toContain('Be kind.')
  })

  it.each([false, true])('a tool loop (streamed: %s)', async (stream) => {
    const question = user('What is the weather in Rome?')
    const first = await callers[caller].send(MODELS[upstream], ask({ turns: [question], tools: TOOLS }), stream)
    expect(first.failure).toBeNull()
    // aimock's own value, which Google does not have; the byte lane does not change it.
    const finish = caller === upstream && upstream === 'generate_content' ? 'FUNCTION_CALL' : 'tool_calls'
    expect(first.answer).toMatchObject({ finish, calls: [{ name: 'get_weather', args: { city: 'Rome' } }] })
    const [call] = first.answer!.calls
    const turns = [
      question,
      { ...assistant({ t: 'call', ...call! }), native: first.native },
      user({ t: 'result', id: call!.id, pieces: [{ t: 'text', text: 'sunny' }] }),
    ]
    const second = await callers[caller].send(MODELS[upstream], ask({ turns, tools: TOOLS }), stream)
    expect(second.failure).toBeNull()
    expect(second.answer).toMatchObject({ text: 'It is sunny in Rome today.', finish: 'stop' })
  })

  it.each([false, true])('reasoning (streamed: %s)', async (stream) => {
    const asked = ask({ turns: [user('Please think about it')], effort: 'medium' })
    const { answer, failure } = await callers[caller].send(MODELS[upstream], asked, stream)
    expect(failure).toBeNull()
    expect(answer).toMatchObject({ text: 'Forty-two, I believe.', thoughts: 'I count to forty-two.' })
  })

  it.each([false, true])('an error of the vendor (streamed: %s)', async (stream) => {
    vendor.nextRequestError(500, { message: 'The foreign vendor is tired.' })
    const { answer, failure } = await callers[caller].send(MODELS[upstream], ask({ turns: [user('Well, hello there')] }), stream)
    expect(answer).toBeNull()
    expect(failure).toMatchObject({ status: 500, message: 'The foreign vendor is tired.' })
  })
})
