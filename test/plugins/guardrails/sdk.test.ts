// The vendors' own clients with guardrails on: they read a redacted stream to its end, and a block is an error of their class.
import Anthropic from '@anthropic-ai/sdk'
import { GoogleGenAI } from '@google/genai'
import OpenAI from 'openai'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { reply, type TestGateway } from '../../../adapters/testing/index.ts'
import { guarded, SECRETS } from './support.ts'

let t: TestGateway
let url: string
beforeAll(async () => {
  t = await guarded({ guardrails: { secrets: { mode: 'redact' }, keywords: { mode: 'block', deny: ['falcon'] } } })
  url = (await t.listen()).url
})
afterAll(() => t.close())

const CALLERS: Record<string, (prompt: string) => Promise<string>> = {
  async chat(prompt) {
    const client = new OpenAI({ baseURL: `${url}/v1`, apiKey: 'none', maxRetries: 0 })
    const stream = await client.chat.completions.create({
      model: 'chat/m',
      stream: true,
      messages: [{ role: 'user', content: prompt }],
    })
    let said = ''
    for await (const piece of stream) said += piece.choices[0]?.delta.content ?? ''
    return said
  },
  async responses(prompt) {
    const client = new OpenAI({ baseURL: `${url}/v1`, apiKey: 'none', maxRetries: 0 })
    let said = ''
    for await (const event of await client.responses.create({ model: 'responses/m', stream: true, input: prompt })) {
      if (event.type === 'response.output_text.delta') said += event.delta
      if (event.type === 'response.output_text.done') expect(event.text).toBe(said)
      if (event.type === 'response.failed') throw new Error(event.response.error?.message)
    }
    return said
  },
  async messages(prompt) {
    const client = new Anthropic({ baseURL: url, apiKey: 'none', maxRetries: 0 })
    const message = await client.messages
      .stream({ model: 'messages/m', max_tokens: 99, messages: [{ role: 'user', content: prompt }] })
      .finalMessage()
    return message.content.map((part) => (part.type === 'text' ? part.text : '')).join('')
  },
  async generate_content(prompt) {
    const client = new GoogleGenAI({ apiKey: 'none', httpOptions: { baseUrl: url } })
    let said = ''
    for await (const piece of await client.models.generateContentStream({ model: 'generate_content/m', contents: prompt }))
      said += piece.text ?? ''
    return said
  },
}

describe.each(Object.entries(CALLERS))('the official client of %s', (_dialect, call) => {
  it('reads a redacted stream', async () => {
    t.upstream.script(reply({ text: `It is ${SECRETS.github}, keep it.`, chunk: 3 }))
    expect(await call('hi')).toBe('It is [SECRET_REDACTED], keep it.')
  })

  it('throws when a request is blocked, and when a stream is', async () => {
    await expect(call('about Falcon')).rejects.toThrow("request blocked by guardrail 'keywords'")
    t.upstream.script(reply({ text: `${'So it goes. '.repeat(40)} Falcon`, chunk: 6 }))
    await expect(call('hi')).rejects.toThrow("answer blocked by guardrail 'keywords'")
  })
})
