import Anthropic from '@anthropic-ai/sdk'
import { expect, it } from 'vitest'
import { messagesReplies } from '../../../../adapters/testing/replies/messages.ts'
import type { Reply } from '../../../../adapters/testing/replies/reply.ts'

const client = (body: string, type: string, status = 200) =>
  new Anthropic({
    apiKey: 'x',
    fetch: async () => new Response(body, { status, headers: { 'content-type': type } }),
    maxRetries: 0,
  })
const request = { model: 'm', max_tokens: 5, messages: [{ role: 'user' as const, content: 'x' }] }

const reply: Reply = {
  reasoning: { text: 'hm', signature: 's' },
  text: 'Hello there',
  toolCalls: [{ id: 'toolu_1', name: 'f', args: '{"a":1}' }],
  usage: { input: 20, cacheRead: 5, output: 9, reasoning: 2 },
}

it('the SDK reads the whole and the streamed reply alike', async () => {
  const whole = await client(JSON.stringify(messagesReplies.json(reply)), 'application/json').messages.create(request)
  const streamed = await client(messagesReplies.frames(reply).join(''), 'text/event-stream')
    .messages.stream(request)
    .finalMessage()
  expect(streamed.content).toEqual(whole.content)
  expect(streamed).toMatchObject({
    stop_reason: 'tool_use',
    usage: { input_tokens: 15, cache_read_input_tokens: 5, output_tokens: 9 },
  })
  expect(streamed.usage).toEqual(whole.usage)
})

it('errors reach the SDK by status and in the stream', async () => {
  const body = JSON.stringify(messagesReplies.error(429, 'Slow down'))
  await expect(client(body, 'application/json', 429).messages.create(request)).rejects.toMatchObject({
    status: 429,
    type: 'rate_limit_error',
  })
  const frames = [...messagesReplies.frames(reply).slice(0, 3), ...messagesReplies.errorFrames('Overloaded')].join('')
  await expect(client(frames, 'text/event-stream').messages.stream(request).finalMessage()).rejects.toThrow(/Overloaded/)
})
