// The official SDK and the AI SDK's strict parser accept what this dialect writes.
import { createOpenAI } from '@ai-sdk/openai'
import { generateText, streamText } from 'ai'
import OpenAI from 'openai'
import { describe, expect, it } from 'vitest'
import { chatReplies } from '../../../../adapters/testing/replies/chat.ts'
import type { Reply } from '../../../../adapters/testing/replies/reply.ts'
import { GatewayError } from '../../../../core/errors/gateway-error.ts'
import { wireBody } from '../../../../core/json/wire-body.ts'
import { codec, decodeEvents, driver, encodeEvents, filter } from './support.ts'

const BODY = { model: 'm', messages: [{ role: 'user' as const, content: 'x' }] }
const REPLY: Reply = {
  text: 'hello you',
  toolCalls: [
    { id: 'call_1', name: 'f', args: '{"a":1}' },
    { id: 'call_2', name: 'g', args: '{}' },
  ],
}

const answers = (body: string, type: string) => async () => new Response(body, { status: 200, headers: { 'content-type': type } })
const openai = (body: string, type = 'text/event-stream') =>
  new OpenAI({ apiKey: 'x', maxRetries: 0, fetch: answers(body, type) })
const aiModel = (body: string, type = 'text/event-stream') =>
  createOpenAI({ apiKey: 'x', fetch: answers(body, type) as typeof fetch }).chat('m')

const asked = () => codec({ stream: true, includeUsage: true })
/** The three ways in which a stream reaches the SDK: the vendor's own, the byte lane, encoded from events. */
const LANES: [string, (reply: Reply) => string][] = [
  ['straight from the vendor', (reply) => chatReplies.frames(reply).join('')],
  ['through the byte lane', (reply) => filter(chatReplies.frames(reply).join(''), asked()).text],
  ['encoded from events', (reply) => encodeEvents(decodeEvents(chatReplies.frames(reply).join('')), asked())],
]
const WHOLE: [string, (reply: Reply) => string][] = [
  ['straight from the vendor', (reply) => JSON.stringify(chatReplies.json(reply))],
  [
    'encoded from canonical',
    (reply) => driver.encodeResponse(driver.decodeResponse(wireBody(JSON.stringify(chatReplies.json(reply))), codec()), codec()),
  ],
]

describe.each(LANES)('the SDKs read a stream %s', (_name, render) => {
  it('finishes in the stream helper of the OpenAI SDK', async () => {
    const stream = openai(render(REPLY)).chat.completions.stream(BODY)
    const completion = await stream.finalChatCompletion()
    expect(completion.choices[0]).toMatchObject({
      finish_reason: 'tool_calls',
      message: {
        content: 'hello you',
        tool_calls: [{ id: 'call_1', type: 'function', function: { name: 'f', arguments: '{"a":1}' } }, { id: 'call_2' }],
      },
    })
    expect(completion.usage).toMatchObject({ prompt_tokens: 12, completion_tokens: 7, total_tokens: 19 })
  })

  it('is readable chunk by chunk, refusals and length stops included', async () => {
    const seen: string[] = []
    for await (const chunk of await openai(render({ refusal: "I can't do that" })).chat.completions.create({
      ...BODY,
      stream: true,
    }))
      seen.push(chunk.choices[0]?.delta.refusal ?? '')
    expect(seen.join('')).toBe("I can't do that")
    const cut = await openai(render({ text: 'long', finish: 'length' }))
      .chat.completions.stream(BODY)
      .finalChatCompletion()
      .catch((error: Error) => error)
    expect(cut instanceof Error ? cut.constructor.name : cut.choices[0]?.finish_reason).toMatch(/length/i)
  })

  it('is read by the AI SDK', async () => {
    const result = streamText({ model: aiModel(render({ text: 'hello you' })), prompt: 'x', maxRetries: 0 })
    expect(await result.text).toBe('hello you')
    expect(await result.finishReason).toBe('stop')
    expect((await result.usage).totalTokens).toBe(19)
  })
})

describe.each(WHOLE)('an answer %s', (_name, render) => {
  it('is read by the OpenAI SDK and the AI SDK', async () => {
    const completion = await openai(render(REPLY), 'application/json').chat.completions.create(BODY)
    expect(completion.choices[0]).toMatchObject({
      finish_reason: 'tool_calls',
      logprobs: null,
      message: { content: 'hello you', refusal: null },
    })
    const result = await generateText({
      model: aiModel(render({ text: 'hello you' }), 'application/json'),
      prompt: 'x',
      maxRetries: 0,
    })
    expect(result.text).toBe('hello you')
    expect(result.usage.totalTokens).toBe(19)
  })
})

describe('the SDKs report failures', () => {
  const broken = () => {
    const encoder = driver.encodeStream(asked())
    const head = decodeEvents(chatReplies.frames({ text: 'hello' }).slice(0, 3).join('')).filter((event) => event.e !== 'error')
    return (
      head.map((event) => encoder.event(event)).join('') + encoder.error(GatewayError.network('reset', 'The upstream is gone.'))
    )
  }

  it('the OpenAI SDK throws for the error frame', async () => {
    await expect(openai(broken()).chat.completions.stream(BODY).finalChatCompletion()).rejects.toThrow('The upstream is gone.')
  })

  it('the AI SDK sees an error, not a short answer', async () => {
    const kinds: string[] = []
    const result = streamText({ model: aiModel(broken()), prompt: 'x', maxRetries: 0, onError: () => {} })
    for await (const part of result.fullStream) kinds.push(part.type)
    expect(kinds).toContain('error')
  })
})
