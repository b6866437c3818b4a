// A tool session with the OpenAI Agents SDK, streamed, in chat completions or responses. CLIENT_STATE names how the conversation continues.
import { readFileSync } from 'node:fs'
import {
  Agent,
  OpenAIChatCompletionsModel,
  OpenAIConversationsSession,
  OpenAIResponsesModel,
  run,
  setTracingDisabled,
  tool,
} from '@openai/agents'
import OpenAI from 'openai'
import { z } from 'zod'

const { CLIENT_API, CLIENT_URL, CLIENT_MODEL, CLIENT_PROMPT, CLIENT_STATE } = process.env
setTracingDisabled(true)
const client = new OpenAI({ baseURL: `${CLIENT_URL}/v1`, apiKey: 'none', maxRetries: 0 })
const Model = CLIENT_API === 'chat' ? OpenAIChatCompletionsModel : OpenAIResponsesModel
const agent = new Agent({
  name: 'Reader',
  instructions: 'Read the notes with the tool.',
  model: new Model(client, CLIENT_MODEL),
  tools: [
    tool({
      name: 'read_note',
      description: 'Reads a note.',
      parameters: z.object({ path: z.string() }),
      execute: ({ path }) => readFileSync(path, 'utf8'),
    }),
  ],
})
const STATES = {
  /** Each step continues the response before it. */
  async previous() {
    const { id } = await client.responses.create({ model: CLIENT_MODEL, input: 'Hello' })
    return { previousResponseId: id }
  },
  conversation: async () => ({ conversationId: (await client.conversations.create()).id }),
  session: async () => ({ session: new OpenAIConversationsSession({ client }) }),
}
const state = CLIENT_STATE === undefined ? {} : await STATES[CLIENT_STATE]()
const stream = await run(agent, CLIENT_PROMPT, { stream: true, maxTurns: 5, ...state })
for await (const _ of stream) {
  // The stream is read to its end.
}
await stream.completed
console.log(stream.finalOutput)
