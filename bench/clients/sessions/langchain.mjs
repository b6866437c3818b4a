// A tool session with LangChain, streamed, through one of its three chat models.
import { readFileSync } from 'node:fs'
import { HumanMessage } from '@langchain/core/messages'
import { tool } from '@langchain/core/tools'
import { z } from 'zod'

const { CLIENT_API, CLIENT_URL, CLIENT_MODEL, CLIENT_PROMPT } = process.env
const MODELS = {
  chat: () => openai(false),
  responses: () => openai(true),
  async messages() {
    const { ChatAnthropic } = await import('@langchain/anthropic')
    return new ChatAnthropic({ model: CLIENT_MODEL, apiKey: 'none', anthropicApiUrl: CLIENT_URL, maxRetries: 0 })
  },
  async google() {
    const { ChatGoogleGenerativeAI } = await import('@langchain/google-genai')
    return new ChatGoogleGenerativeAI({ model: CLIENT_MODEL, apiKey: 'none', baseUrl: CLIENT_URL, maxRetries: 0 })
  },
}

const readNote = tool(({ path }) => readFileSync(path, 'utf8'), {
  name: 'read_note',
  description: 'Reads a note.',
  schema: z.object({ path: z.string() }),
})
const model = (await MODELS[CLIENT_API]()).bindTools([readNote])
const messages = [new HumanMessage(CLIENT_PROMPT)]
for (let turn = 0; turn < 5; turn++) {
  let answer
  for await (const chunk of await model.stream(messages)) answer = answer === undefined ? chunk : answer.concat(chunk)
  messages.push(answer)
  if (!answer.tool_calls?.length) {
    console.log(answer.text)
    break
  }
  for (const call of answer.tool_calls) messages.push(await readNote.invoke(call))
}

async function openai(useResponsesApi) {
  const { ChatOpenAI } = await import('@langchain/openai')
  const configuration = { baseURL: `${CLIENT_URL}/v1` }
  return new ChatOpenAI({ model: CLIENT_MODEL, apiKey: 'none', configuration, useResponsesApi, maxRetries: 0 })
}
