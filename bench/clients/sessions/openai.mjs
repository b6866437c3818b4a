// A tool session with the OpenAI SDK, streamed, in chat completions or responses.
import { readFileSync } from 'node:fs'
import OpenAI from 'openai'

const { CLIENT_API, CLIENT_URL, CLIENT_MODEL, CLIENT_PROMPT } = process.env
const client = new OpenAI({ baseURL: `${CLIENT_URL}/v1`, apiKey: 'none', maxRetries: 0 })
const declared = {
  name: 'read_note',
  description: 'Reads a note.',
  parameters: { type: 'object', properties: { path: { type: 'string' } }, required: ['path'] },
}
const run = (args) => readFileSync(JSON.parse(args).path, 'utf8')

console.log(CLIENT_API === 'chat' ? await chat() : await responses())

async function chat() {
  const messages = [{ role: 'user', content: CLIENT_PROMPT }]
  for (let turn = 0; turn < 5; turn++) {
    const tools = [{ type: 'function', function: declared }]
    const stream = client.chat.completions.stream({ model: CLIENT_MODEL, messages, tools })
    const { message } = (await stream.finalChatCompletion()).choices[0]
    if (!message.tool_calls?.length) return message.content
    messages.push(message)
    for (const call of message.tool_calls)
      messages.push({ role: 'tool', tool_call_id: call.id, content: run(call.function.arguments) })
  }
}

async function responses() {
  const input = [{ role: 'user', content: CLIENT_PROMPT }]
  for (let turn = 0; turn < 5; turn++) {
    const tools = [{ type: 'function', strict: false, ...declared }]
    const stream = client.responses.stream({ model: CLIENT_MODEL, input, tools, store: false })
    const answer = await stream.finalResponse()
    const calls = answer.output.filter(({ type }) => type === 'function_call')
    if (calls.length === 0) return answer.output_text
    // The stream helper adds members that are not part of the wire format.
    input.push(...answer.output.map(({ parsed_arguments, ...item }) => item))
    for (const call of calls) input.push({ type: 'function_call_output', call_id: call.call_id, output: run(call.arguments) })
  }
}
