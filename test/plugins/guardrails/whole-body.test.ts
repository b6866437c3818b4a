// Blocking rules see the whole body: every member in every spelling, parts of a message joined, and without invisible characters.
import { expect, it } from 'vitest'
import { reply } from '../../../adapters/testing/index.ts'
import { guardedOnes } from './support.ts'

const open = guardedOnes()
const WORD = 'zanzibar'
const guardrails = { keywords: { mode: 'block', deny: [WORD] } }
const base64 = Buffer.from(`a ${WORD} b`).toString('base64')
const hi = [{ role: 'user', content: 'hi' }]
const tool = (change: object) => [{ type: 'function', function: { name: 'f', parameters: { type: 'object' }, ...change } }]

const CHAT: [string, object][] = [
  ['documents', { documents: [{ title: 't', text: `a ${WORD}` }] }],
  ['a chat template', { chat_template: `{{ ${WORD} }}` }],
  ['prompt', { prompt: WORD }],
  ['variables of a prompt', { prompt: { id: 'p', variables: { x: WORD } } }],
  ['system', { system: WORD }],
  ['a tool’s description', { tools: tool({ description: WORD }) }],
  ['a schema’s description', { tools: tool({ parameters: { type: 'object', properties: { a: { description: WORD } } } }) }],
  ['a schema’s member name', { tools: tool({ parameters: { type: 'object', properties: { [WORD]: {} } } }) }],
  ['stop', { stop: ['x', WORD] }],
  ['a name', { messages: [{ role: 'user', name: WORD, content: 'hi' }] }],
  ['two parts', { messages: [{ role: 'user', content: ['zanz', 'ibar'].map((text) => ({ type: 'text', text })) }] }],
  ...['\u200b', '\u200d', '\u00ad', '\u2060', '\ufe0f', '\u{e0061}'].map((sign): [string, object] => [
    `U+${sign.codePointAt(0)?.toString(16)} inside`,
    { messages: [{ role: 'user', content: `a zanz${sign}ibar b` }] },
  ]),
  ['escapes', JSON.parse('{"metadata":{"x":"\\u007aanzibar"}}')],
  [
    'a text file as a data URL',
    {
      messages: [
        { role: 'user', content: [{ type: 'file', file: { filename: 'a', file_data: `data:text/plain;base64,${base64}` } }] },
      ],
    },
  ],
]

it.each(CHAT)('chat: %s', async (_what, change) => {
  const t = await open({ guardrails })
  t.upstream.script(reply({ text: 'ok' }))
  const response = await t.post('/v1/chat/completions', { model: 'chat/m', messages: hi, ...change })
  expect([response.status, await response.json()]).toMatchObject([400, { error: { code: 'guardrail_blocked' } }])
  expect(t.upstream.requests).toEqual([])
})

it.each(['systemInstruction', 'system_instruction', 'x'])('generate-content: %s beside the contents', async (name) => {
  const t = await open({ guardrails })
  const contents = [{ role: 'user', parts: [{ text: 'hi' }] }]
  const path = '/v1beta/models/generate_content/m:generateContent'
  expect((await t.post(path, { contents, [name]: { parts: [{ text: WORD }] } })).status).toBe(400)
  for (const [data, type] of [
    ['inlineData', 'mimeType'],
    ['inline_data', 'mime_type'],
  ] as const)
    expect((await t.post(path, { contents: [{ parts: [{ [data]: { [type]: 'text/plain', data: base64 } }] }] })).status).toBe(400)
  expect(t.upstream.requests).toEqual([])
})

const block = (source: object) => [{ role: 'user', content: [{ type: 'document', source }] }]
const said = (content: object[]) => [{ role: 'user', content }]
const OTHERS: [string, string, object][] = [
  ['messages', 'a text file in base64', { messages: block({ type: 'base64', media_type: 'text/plain', data: base64 }) }],
  ['messages', 'a plain text document', { messages: block({ type: 'text', media_type: 'text/plain', data: WORD }) }],
  ['messages', 'a document of parts', { messages: block({ type: 'content', content: [{ type: 'text', text: WORD }] }) }],
  ['messages', 'two parts', { messages: said(['zanz', 'ibar'].map((text) => ({ type: 'text', text }))) }],
  ['messages', 'two parts of the system', { system: ['zanz', 'ibar'].map((text) => ({ type: 'text', text })) }],
  ['messages', 'a stop sequence', { stop_sequences: [WORD] }],
  ['messages', 'a tool’s description', { tools: [{ name: 'f', description: WORD, input_schema: { type: 'object' } }] }],
  ['messages', 'contents beside messages', { contents: [{ parts: [{ text: WORD }] }] }],
  ['messages', 'the input of a call', { messages: said([{ type: 'tool_use', id: 'a', name: 'f', input: { x: WORD } }]) }],
  ['responses', 'instructions', { instructions: `zanz\u200bibar` }],
  ['responses', 'variables of a prompt', { prompt: { id: 'p', variables: { x: { type: 'input_text', text: WORD } } } }],
  ['responses', 'two parts', { input: said(['zanz', 'ibar'].map((text) => ({ type: 'input_text', text }))) }],
  [
    'responses',
    'a text file as a data URL',
    { input: said([{ type: 'input_file', filename: 'a', file_data: `data:text/plain;base64,${base64}` }]) },
  ],
  ['responses', 'messages beside the input', { messages: [{ role: 'user', content: WORD }] }],
  ['responses', 'an output of a call', { input: [{ type: 'function_call_output', call_id: 'c', output: WORD }] }],
  [
    'responses',
    'a schema’s description',
    { text: { format: { type: 'json_schema', name: 'n', schema: { description: WORD } } } },
  ],
  ['generate_content', 'two parts', { contents: [{ role: 'user', parts: [{ text: 'zanz' }, { text: 'ibar' }] }] }],
  ['generate_content', 'a stop', { generation_config: { stop_sequences: [WORD] } }],
  ['generate_content', 'a stop in the other spelling', { generationConfig: { stopSequences: [WORD] } }],
  ['generate_content', 'a function’s description', { tools: [{ function_declarations: [{ name: 'f', description: WORD }] }] }],
]
const PATHS: Record<string, [string, object]> = {
  messages: ['/v1/messages', { model: 'messages/m', max_tokens: 9, messages: hi }],
  responses: ['/v1/responses', { model: 'responses/m', input: 'hi' }],
  generate_content: ['/v1beta/models/generate_content/m:generateContent', { contents: [{ parts: [{ text: 'hi' }] }] }],
}

it.each(OTHERS)('%s: %s', async (dialect, _what, change) => {
  const t = await open({ guardrails })
  t.upstream.script(reply({ text: 'ok' }))
  const [path, body] = PATHS[dialect] as [string, object]
  const response = await t.post(path, { ...body, ...change })
  expect([response.status, await response.text()]).toEqual([400, expect.stringContaining('guardrail')])
  expect(t.upstream.requests).toEqual([])
})

it('what a rule does not block passes, and media are no text', async () => {
  const t = await open({ guardrails })
  const image = `data:image/png;base64,${Buffer.from(`${WORD}`.repeat(20)).toString('base64')}`
  const parts = [
    { type: 'text', text: 'zan' },
    { type: 'image_url', image_url: { url: image } },
  ]
  const asked = { model: 'chat/m', messages: [{ role: 'user', content: parts }], stop: ['zanzi', 'bar'] }
  t.upstream.script(reply({ text: 'ok' }))
  expect((await t.post('/v1/chat/completions', asked)).status).toBe(200)
})

it('hits are not counted twice for a topic that needs more of them', async () => {
  const topics = { mode: 'block', deny: [{ name: 'places', keywords: [WORD], min_hits: 2 }] }
  const t = await open({ guardrails: { topics } })
  const ask = (text: string) => t.post('/v1/chat/completions', { model: 'chat/m', messages: [{ role: 'user', content: text }] })
  t.upstream.script(reply({ text: 'ok' }))
  expect((await ask(`one ${WORD}`)).status).toBe(200)
  expect((await ask(`${WORD} and ${WORD}`)).status).toBe(400)
})
