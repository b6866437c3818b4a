// A tool session with the Anthropic SDK, streamed.
import { readFileSync } from 'node:fs'
import Anthropic from '@anthropic-ai/sdk'

const { CLIENT_URL, CLIENT_MODEL, CLIENT_PROMPT } = process.env
const client = new Anthropic({ baseURL: CLIENT_URL, apiKey: 'none', maxRetries: 0 })
const tools = [
  {
    name: 'read_note',
    description: 'Reads a note.',
    input_schema: { type: 'object', properties: { path: { type: 'string' } }, required: ['path'] },
  },
]
const messages = [{ role: 'user', content: CLIENT_PROMPT }]
for (let turn = 0; turn < 5; turn++) {
  const stream = client.messages.stream({ model: CLIENT_MODEL, max_tokens: 1000, messages, tools })
  const { content } = await stream.finalMessage()
  const calls = content.filter(({ type }) => type === 'tool_use')
  if (calls.length === 0) {
    console.log(content.map(({ text }) => text ?? '').join(''))
    break
  }
  const results = calls.map(({ id, input }) => ({
    type: 'tool_result',
    tool_use_id: id,
    content: readFileSync(input.path, 'utf8'),
  }))
  messages.push({ role: 'assistant', content }, { role: 'user', content: results })
}
