// A tool session with Google's Gen AI SDK, streamed.
import { readFileSync } from 'node:fs'
import { GoogleGenAI } from '@google/genai'

const { CLIENT_URL, CLIENT_MODEL, CLIENT_PROMPT } = process.env
const client = new GoogleGenAI({ apiKey: 'none', httpOptions: { baseUrl: CLIENT_URL } })
const declared = {
  name: 'read_note',
  description: 'Reads a note.',
  parametersJsonSchema: { type: 'object', properties: { path: { type: 'string' } }, required: ['path'] },
}
const contents = [{ role: 'user', parts: [{ text: CLIENT_PROMPT }] }]
for (let turn = 0; turn < 5; turn++) {
  const config = { tools: [{ functionDeclarations: [declared] }] }
  const parts = []
  for await (const chunk of await client.models.generateContentStream({ model: CLIENT_MODEL, contents, config }))
    parts.push(...(chunk.candidates?.[0]?.content?.parts ?? []))
  const calls = parts.flatMap(({ functionCall }) => (functionCall ? [functionCall] : []))
  if (calls.length === 0) {
    console.log(parts.map(({ text }) => text ?? '').join(''))
    break
  }
  const results = calls.map(({ id, name, args }) => ({
    functionResponse: { id, name, response: { output: readFileSync(args.path, 'utf8') } },
  }))
  contents.push({ role: 'model', parts }, { role: 'user', parts: results })
}
