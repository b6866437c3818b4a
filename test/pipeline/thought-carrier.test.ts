// A generate-content client in a tool session over other vendors: their reasoning secrets come back to them although the client drops
// thought parts, as Gemini CLI does, and never reach Gemini.
import { type Content, type FunctionDeclaration, GoogleGenAI, type Part } from '@google/genai'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  choose,
  createTestGateway,
  fail,
  frames,
  type RecordedRequest,
  raw,
  reply,
  type Step,
  scriptedUpstream,
  type TestGateway,
  text,
} from '../../adapters/testing/index.ts'
import type { JsonObject } from '../../core/types/request/canonical.ts'
import { freshAccounts } from '../support/fresh-accounts.ts'

let t: TestGateway
let upstream: Awaited<ReturnType<typeof scriptedUpstream>>
let google: GoogleGenAI

beforeAll(async () => {
  upstream = await scriptedUpstream()
  const at = (dialect: 'messages' | 'responses' | 'chat' | 'generate_content') => ({
    ...{ baseUrl: upstream.baseUrl(dialect), wireFormat: dialect, apiKey: 'sk-upstream' },
  })
  t = await createTestGateway({
    config: {
      connections: {
        anthropic: { provider: 'anthropic', ...at('messages') },
        openai: { provider: 'openai', ...at('responses') },
        openrouter: { provider: 'openrouter', ...at('chat') },
        google: { provider: 'google', ...at('generate_content') },
        // One provider with two dialects; the second is used when the first fails.
        'mixed.1': { provider: 'mixed', ...at('messages') },
        'mixed.2': { provider: 'mixed', ...at('generate_content') },
      },
    },
    plugins: [freshAccounts()],
  })
  const { url } = await t.listen()
  google = new GoogleGenAI({ apiKey: 'none', httpOptions: { baseUrl: url } })
})
afterAll(async () => {
  await t.close()
  await upstream.close()
})

/** Google's own value for a lost signature. */
const SENTINEL = 'skip_thought_signature_validator'
const CALLS = [
  { id: 'call_1', name: 'weather', args: '{"city":"Rome"}' },
  { id: 'call_2', name: 'weather', args: '{"city":"Oslo"}' },
]
const weather: FunctionDeclaration = {
  name: 'weather',
  parametersJsonSchema: { type: 'object', properties: { city: { type: 'string' } } },
}

const BLOCKS = [
  { type: 'thinking', thinking: 'Two cities, two calls.', signature: 'c2lnbmVkIQ==' },
  { type: 'redacted_thinking', data: 'cmVkYWN0ZWQ=' },
  { type: 'text', text: 'I will look.' },
  ...CALLS.map(({ args, ...call }) => ({ type: 'tool_use', ...call, input: JSON.parse(args) as JsonObject })),
]

function anthropicAnswer(stream: boolean): Step {
  const usage = { input_tokens: 5, output_tokens: 2 }
  const message = { id: 'msg_1', type: 'message', role: 'assistant', model: 'claude-sonnet-4-5', stop_sequence: null, usage }
  if (!stream) return raw(200, JSON.stringify({ ...message, content: BLOCKS, stop_reason: 'tool_use' }))
  const frame = (type: string, members: object) => `event: ${type}\ndata: ${JSON.stringify({ type, ...members })}\n\n`
  const block = (block: (typeof BLOCKS)[number], index: number) => {
    const empty = { thinking: { thinking: '', signature: '' }, text: { text: '' }, tool_use: { input: {} } }[block.type]
    const { thinking, signature, text, input } = block as Record<string, unknown>
    const deltas = [
      thinking !== undefined && { type: 'thinking_delta', thinking },
      signature !== undefined && { type: 'signature_delta', signature },
      text !== undefined && { type: 'text_delta', text },
      input !== undefined && { type: 'input_json_delta', partial_json: JSON.stringify(input) },
    ].filter((delta) => delta !== false)
    return [
      frame('content_block_start', { index, content_block: { ...block, ...empty } }),
      ...deltas.map((delta) => frame('content_block_delta', { index, delta })),
      frame('content_block_stop', { index }),
    ]
  }
  return frames([
    frame('message_start', { message: { ...message, content: [], stop_reason: null } }),
    ...BLOCKS.flatMap(block),
    frame('message_delta', { delta: { stop_reason: 'tool_use', stop_sequence: null }, usage }),
    frame('message_stop', {}),
  ])
}

const DETAILS = [
  { type: 'reasoning.text', text: 'Two cities.', signature: 'S', format: 'anthropic-claude-v1', index: 0 },
  { type: 'reasoning.encrypted', data: 'RQ==', id: 'call_1', index: 1 },
]

function openrouterAnswer(stream: boolean): Step {
  const tool_calls = CALLS.map(({ id, name, args }, index) => ({
    index,
    id,
    type: 'function',
    function: { name, arguments: args },
  }))
  const head = { id: 'gen-1', object: 'chat.completion', created: 1, model: 'm', provider: 'Anthropic' }
  if (!stream) {
    const message = { role: 'assistant', content: null, reasoning: 'Two cities.', reasoning_details: DETAILS, tool_calls }
    return raw(200, JSON.stringify({ ...head, choices: [{ index: 0, message, finish_reason: 'tool_calls' }] }))
  }
  const chunk = (delta: object, finish_reason: string | null = null) =>
    `data: ${JSON.stringify({ ...head, object: 'chat.completion.chunk', choices: [{ index: 0, delta, finish_reason }] })}\n\n`
  const [{ signature, text: _, ...piece }, sealed] = DETAILS as unknown as [JsonObject, JsonObject]
  return frames([
    ...['Two ', 'cities.'].map((text) => chunk({ reasoning: text, reasoning_details: [{ ...piece, text }] })),
    chunk({ reasoning_details: [{ ...piece, signature: signature as string }] }),
    // The sealed ones come with the calls, or after them.
    ...tool_calls.map((call) => chunk({ tool_calls: [call] })),
    chunk({ reasoning_details: [sealed] }),
    chunk({}, 'tool_calls'),
    'data: [DONE]\n\n',
  ])
}

const openaiAnswer = (): Step => reply({ reasoning: { text: 'Two cities.', signature: 'RU5D' }, text: 'So.', toolCalls: CALLS })

interface Vendor {
  model: string
  answer(stream: boolean): Step
  /** Returns the assistant's thoughts in the upstream's request. */
  thoughts(request: RecordedRequest): unknown
  expected: unknown
}

const list = (value: unknown): JsonObject[] => value as JsonObject[]
const VENDORS: Readonly<Record<string, Vendor>> = {
  messages: {
    model: 'anthropic/claude-sonnet-4-5',
    answer: anthropicAnswer,
    thoughts: ({ json }) =>
      list(list(json.messages).find(({ role }) => role === 'assistant')?.content).filter(({ type }) =>
        /thinking/.test(`${type}`),
      ),
    expected: BLOCKS.slice(0, 2),
  },
  responses: {
    model: 'openai/gpt-5.6-mini',
    answer: openaiAnswer,
    thoughts: ({ json }) => list(json.input).filter(({ type }) => type === 'reasoning'),
    expected: [{ type: 'reasoning', summary: [{ type: 'summary_text', text: 'Two cities.' }], encrypted_content: 'RU5D' }],
  },
  chat: {
    model: 'openrouter/anthropic/claude-sonnet-4.5',
    answer: openrouterAnswer,
    thoughts: ({ json }) =>
      list(json.messages).flatMap(({ role, reasoning, reasoning_details }) =>
        role === 'assistant' ? [{ reasoning, reasoning_details }] : [],
      ),
    expected: [{ reasoning: 'Two cities.', reasoning_details: DETAILS }],
  },
}

const QUESTION: Content = { role: 'user', parts: [{ text: 'Where is it warmer?' }] }
const config = { tools: [{ functionDeclarations: [weather] }], thinkingConfig: { includeThoughts: true, thinkingBudget: 2048 } }

/** Returns the model's turn as the SDK reads it: one content for each chunk, as Gemini CLI keeps them. */
async function firstTurn({ model, answer }: Pick<Vendor, 'model' | 'answer'>, stream: boolean): Promise<Content[]> {
  upstream.script(answer(stream))
  const ask = { model, contents: [QUESTION], config }
  if (!stream) return contentsOf([await google.models.generateContent(ask)])
  const chunks = []
  for await (const chunk of await google.models.generateContentStream(ask)) chunks.push(chunk)
  return contentsOf(chunks)
}

function contentsOf(chunks: readonly { candidates?: { content?: Content }[] }[]): Content[] {
  return chunks.flatMap(({ candidates }) => candidates?.[0]?.content ?? []).filter(({ parts }) => parts?.length)
}

const withoutThoughts = (turn: readonly Content[]): Content[] =>
  turn
    .map(
      ({ role, parts = [] }): Content => ({
        ...(role ? { role } : {}),
        parts: parts.filter((part) => !part.thought && part.text !== ''),
      }),
    )
    .filter(({ parts }) => parts?.length)

function history(turn: readonly Content[]): Content[] {
  const calls = turn.flatMap(({ parts = [] }) => parts).flatMap(({ functionCall }) => functionCall ?? [])
  expect(calls.map(({ id, args }) => [id, args])).toEqual(CALLS.map(({ id, args }) => [id, JSON.parse(args)]))
  const results = calls.map(({ id, name }): Part => {
    return { functionResponse: { ...(id ? { id } : {}), ...(name ? { name } : {}), response: { output: 'sunny' } } }
  })
  return [QUESTION, ...turn, { role: 'user', parts: results }]
}

const CLIENTS = [
  ['drops', withoutThoughts],
  ['keeps', (turn: readonly Content[]): Content[] => [...turn]],
] as const

describe.each(Object.entries(VENDORS))('over a %s upstream', (_dialect, vendor) => {
  describe.each([false, true])('stream: %s', (stream) => {
    it.each(CLIENTS)('a client that %s thoughts gives every secret back once', async (_does, client) => {
      const turn = client(await firstTurn(vendor, stream))
      upstream.script(text('Rome.'))
      const contents = history(turn)
      expect((await google.models.generateContent({ model: vendor.model, contents, config })).text).toBe('Rome.')
      expect(vendor.thoughts(upstream.requests.at(-1) as RecordedRequest)).toEqual(vendor.expected)
      expect(upstream.requests.at(-1)?.text).not.toMatch(/Z3cx|gw1|thoughts\//)
    })

    it.each(CLIENTS)('nothing of it reaches Gemini next, from a client that %s thoughts', async (_does, client) => {
      const contents = history(client(await firstTurn(vendor, stream)))
      upstream.script(text('Rome.'))
      await google.models.generateContent({ model: 'google/gemini-3-flash', contents, config })
      expectClean(upstream.requests.at(-1) as RecordedRequest)
    })
  })
})

function expectNoSecret({ dialect, text }: RecordedRequest): void {
  expect(dialect).toBe('generate_content')
  expect(text).not.toMatch(/Z3cx|gw1|thoughts\/|c2lnbmVkIQ|cmVkYWN0ZWQ|RU5D|reasoning/)
}

function expectClean(request: RecordedRequest): void {
  expectNoSecret(request)
  const { json } = request
  const parts = list(json.contents).flatMap((content) => list(content.parts))
  const calls = parts.filter((part) => part.functionCall !== undefined)
  expect(calls[0]?.thoughtSignature).toBe(SENTINEL)
  for (const { thoughtSignature } of parts) expect([undefined, SENTINEL]).toContain(thoughtSignature)
}

it('an upstream that demands its signed thinking back gets it, and its failure passes nothing on to Gemini', async () => {
  const demanding = (request: RecordedRequest): Step => {
    const assistant = list(request.json.messages).find(({ role }) => role === 'assistant')
    if (assistant === undefined) return anthropicAnswer(request.stream)
    const [first] = list(assistant.content)
    const fits = JSON.stringify(first) === JSON.stringify(BLOCKS[0])
    return fits ? text('Rome.') : fail(400, { message: 'Expected `thinking`, but found `tool_use`.' })
  }
  const turn = withoutThoughts(await firstTurn({ model: 'mixed/claude-sonnet-4-5', answer: () => choose(demanding) }, true))
  const contents = history(turn)
  const ask = { model: 'mixed/claude-sonnet-4-5', contents, config }
  upstream.script(choose(demanding))
  expect((await google.models.generateContent(ask)).text).toBe('Rome.')
  upstream.script(fail(529), text('Oslo.'))
  expect((await google.models.generateContent(ask)).text).toBe('Oslo.')
  const [failed, answered] = upstream.requests.slice(-2)
  expect(failed?.text).toContain('c2lnbmVkIQ')
  expectNoSecret(answered as RecordedRequest)
})

it('an answer of Gemini itself keeps every byte', async () => {
  const answer = reply({ reasoning: { text: 'hm', signature: 'Q2lRQg==' }, toolCalls: CALLS })
  const { url } = await t.listen()
  for (const stream of [false, true]) {
    const path = `/v1beta/models/gemini-3-flash:${stream ? 'streamGenerateContent?alt=sse' : 'generateContent'}`
    const post = async (base: string, model: string): Promise<string> => {
      upstream.script(answer)
      const init = {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ contents: [QUESTION] }),
      }
      return (await fetch(base + path.replace('gemini-3-flash', model), init)).text()
    }
    const direct = await post(upstream.baseUrl('generate_content').replace(/\/v1beta$/, ''), 'gemini-3-flash')
    expect(direct).toContain('Q2lRQg==')
    expect(await post(url, 'google/gemini-3-flash')).toBe(direct)
  }
})
