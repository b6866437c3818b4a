// A tool session with the Vercel AI SDK, streamed, through one of its three providers.
import { readFileSync } from 'node:fs'
import { stepCountIs, streamText, tool } from 'ai'
import { z } from 'zod'

const { CLIENT_API, CLIENT_URL, CLIENT_MODEL, CLIENT_PROMPT, CLIENT_STORE } = process.env
const MODELS = {
  chat: async () => (await openai()).chat(CLIENT_MODEL),
  responses: async () => (await openai()).responses(CLIENT_MODEL),
  async messages() {
    const { createAnthropic } = await import('@ai-sdk/anthropic')
    return createAnthropic({ baseURL: `${CLIENT_URL}/v1`, apiKey: 'none' })(CLIENT_MODEL)
  },
  async google() {
    const { createGoogleGenerativeAI } = await import('@ai-sdk/google')
    return createGoogleGenerativeAI({ baseURL: `${CLIENT_URL}/v1beta`, apiKey: 'none' })(CLIENT_MODEL)
  },
}

const { textStream } = streamText({
  model: await MODELS[CLIENT_API](),
  prompt: CLIENT_PROMPT,
  maxRetries: 0,
  ...(CLIENT_STORE === 'false' && { providerOptions: { openai: { store: false } } }),
  stopWhen: stepCountIs(5),
  tools: {
    read_note: tool({
      description: 'Reads a note.',
      inputSchema: z.object({ path: z.string() }),
      execute: ({ path }) => readFileSync(path, 'utf8'),
    }),
  },
})
for await (const piece of textStream) process.stdout.write(piece)

async function openai() {
  const { createOpenAI } = await import('@ai-sdk/openai')
  return createOpenAI({ baseURL: `${CLIENT_URL}/v1`, apiKey: 'none' })
}
