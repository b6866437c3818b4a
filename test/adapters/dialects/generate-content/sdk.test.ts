// The official SDK and the AI SDK's provider accept what this dialect writes, and what the scripted vendor writes.
import { createGoogleGenerativeAI } from '@ai-sdk/google'
import { GoogleGenAI } from '@google/genai'
import { streamText } from 'ai'
import { describe, expect, it } from 'vitest'
import { generateContentReplies } from '../../../../adapters/testing/replies/generate-content.ts'
import { GatewayError } from '../../../../core/errors/gateway-error.ts'
import { PartWriter } from '../../../../core/stream/part-writer.ts'
import type { StreamEvent } from '../../../../core/types/request/stream.ts'
import { codec, driver, encodeEvents } from './support.ts'

function events(): StreamEvent[] {
  const out: StreamEvent[] = [{ e: 'start', id: 'x', model: 'm', created: 1 }]
  const writer = new PartWriter()
  const emit = (event: StreamEvent): void => void out.push(structuredClone(event))
  writer.reasoning(0, 'let me think', emit)
  writer.signature(0, { dialect: 'messages', modelFamily: 'claude', value: 'v' }, emit)
  writer.text(0, 'Hello ', emit)
  writer.text(0, 'wörld', emit)
  writer.toolStart(0, 1, { id: 'c1', name: 'f' }, emit)
  writer.toolArgs(0, 1, '{"a":1}', emit)
  writer.toolStop(0, 1, emit)
  writer.closeAll(0, emit)
  out.push(
    { e: 'finish', choice: 0, finish: 'tool_calls', native: '' },
    { e: 'usage', usage: { inputTotal: 3, outputTotal: 5, reasoning: 2, total: 8 } },
    { e: 'end' },
  )
  return out
}

const replying =
  (text: string, type = 'text/event-stream', status = 200) =>
  async () =>
    new Response(text, { status, headers: { 'content-type': type } })

const client = (fetch: () => Promise<Response>) =>
  new GoogleGenAI({ apiKey: 'x', httpOptions: { baseUrl: 'http://127.0.0.1:1', fetch } } as ConstructorParameters<
    typeof GoogleGenAI
  >[0])

async function read(text: string) {
  const stream = await client(replying(text)).models.generateContentStream({ model: 'gemini-x', contents: 'x' })
  const seen = { text: '', calls: [] as unknown[], finish: '', total: 0, thoughts: '' }
  for await (const chunk of stream) {
    for (const part of chunk.candidates?.[0]?.content?.parts ?? []) {
      if (part.functionCall) seen.calls.push(part.functionCall)
      else if (part.thought) seen.thoughts += part.text ?? ''
      else seen.text += part.text ?? ''
    }
    seen.finish = chunk.candidates?.[0]?.finishReason ?? seen.finish
    seen.total = chunk.usageMetadata?.totalTokenCount ?? seen.total
  }
  return seen
}

describe('official SDKs', () => {
  it('@google/genai reads our stream, heartbeats in between', async () => {
    const text = encodeEvents(events())
    for (const sent of [text, text.replaceAll('\n\ndata:', '\n\n: ping\n\ndata:')]) {
      expect(await read(sent)).toEqual({
        text: 'Hello wörld',
        calls: [{ id: 'c1', name: 'f', args: { a: 1 } }],
        finish: 'STOP',
        total: 8,
        thoughts: 'let me think',
      })
    }
  })

  it('@google/genai throws on our error frame', async () => {
    const encoder = driver.encodeStream(codec({ caller: 'generate_content', upstream: 'chat' }))
    const started = events()
      .slice(0, 4)
      .map((event) => encoder.event(event))
      .join('')
    await expect(read(started + encoder.error(GatewayError.network('reset', 'gone')))).rejects.toMatchObject({
      name: 'ApiError',
      status: 502,
    })
  })

  it('@google/genai chat history stays valid through our stream', async () => {
    const chat = client(replying(encodeEvents(events()))).chats.create({ model: 'gemini-x' })
    for await (const _ of await chat.sendMessageStream({ message: 'x' }));
    expect(chat.getHistory(true).length).toBeGreaterThan(1)
  })

  it('@google/genai reads our whole answer and our HTTP error', async () => {
    const on = codec({ caller: 'generate_content', upstream: 'chat' })
    const body = driver.encodeResponse(
      {
        id: 'x',
        created: 1,
        model: 'm',
        choices: [{ index: 0, parts: [{ t: 'text', text: 'hi' }], finish: 'stop', nativeFinish: 'stop' }],
        usage: { inputTotal: 1, cacheRead: 0, cacheWrite: 0, outputTotal: 2, total: 3, estimated: false, raw: null },
        ext: {},
      },
      on,
    )
    const answer = await client(replying(body, 'application/json')).models.generateContent({ model: 'g', contents: 'x' })
    expect([answer.text, answer.usageMetadata?.totalTokenCount]).toEqual(['hi', 3])
    const failing = client(replying(driver.encodeError(GatewayError.invalid('contents', 'bad'), 'r'), 'application/json', 400))
    await expect(failing.models.generateContent({ model: 'g', contents: 'x' })).rejects.toMatchObject({ status: 400 })
  })

  it('@google/genai reads the scripted vendor', async () => {
    const frames = generateContentReplies
      .frames({ text: 'Hello', reasoning: { text: 'hm' }, usage: { input: 2, output: 4, reasoning: 1 } })
      .join('')
    expect(await read(frames)).toEqual({ text: 'Hello', calls: [], finish: 'STOP', total: 6, thoughts: 'hm' })
    await expect(read(generateContentReplies.errorFrames('busy').join(''))).rejects.toMatchObject({ status: 503 })
  })

  it('the AI SDK reads our stream and sees our error frame', async () => {
    const model = (text: string) =>
      createGoogleGenerativeAI({ apiKey: 'x', baseURL: 'http://127.0.0.1:1/v1beta', fetch: replying(text) as typeof fetch })(
        'gemini-x',
      )
    const good = streamText({ model: model(encodeEvents(events())), prompt: 'x', maxRetries: 0 })
    expect(await good.text).toBe('Hello wörld')
    expect(await good.reasoningText).toBe('let me think')
    expect((await good.toolCalls).map((call) => [call.toolCallId, call.toolName, call.input])).toEqual([['c1', 'f', { a: 1 }]])
    expect((await good.usage).totalTokens).toBe(8)
    const encoder = driver.encodeStream(codec({ caller: 'generate_content', upstream: 'chat' }))
    const broken =
      events()
        .slice(0, 4)
        .map((event) => encoder.event(event))
        .join('') + encoder.error(GatewayError.network('reset', 'gone'))
    const errors: unknown[] = []
    for await (const part of streamText({ model: model(broken), prompt: 'x', maxRetries: 0, onError: () => undefined })
      .fullStream)
      if (part.type === 'error') errors.push(part.error)
    expect(errors).toEqual([expect.objectContaining({ message: 'gone', statusCode: 502 })])
  })
})
