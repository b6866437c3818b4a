// A vendor's own members survive a stream that a plugin may change, as in a whole answer; members that would repeat a redacted text are
// dropped.
import Anthropic from '@anthropic-ai/sdk'
import { GoogleGenAI } from '@google/genai'
import OpenAI from 'openai'
import { describe, expect, it } from 'vitest'
import { raw, type TestGateway } from '../../../adapters/testing/index.ts'
import { guardedOnes, SECRETS } from './support.ts'

const open = guardedOnes()
const SECRET = SECRETS.openai
const blocking = { secrets: { mode: 'block' } }
const redacting = { secrets: { mode: 'redact' } }
const question = [{ role: 'user' as const, content: 'hi' }]

const data = (...chunks: object[]) => chunks.map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`)
const events = (...list: ({ type: string } & Record<string, unknown>)[]) =>
  list.map((one) => `event: ${one.type}\ndata: ${JSON.stringify(one)}\n\n`)

async function streamed(t: TestGateway, path: string, body: object, frames: string[]): Promise<Record<string, unknown>[]> {
  t.upstream.script({ kind: 'frames', frames })
  const text = await (await t.post(path, { ...body, stream: true })).text()
  return text.split('\n').flatMap((line) => (line.startsWith('data: {') ? [JSON.parse(line.slice(6))] : []))
}

/** Returns every value of a member, anywhere in the chunks. */
function said(chunks: unknown, name: string): unknown[] {
  if (Array.isArray(chunks)) return chunks.flatMap((one) => said(one, name))
  if (typeof chunks !== 'object' || chunks === null) return []
  return Object.entries(chunks).flatMap(([key, value]) => (key === name ? [value] : said(value, name)))
}

describe('chat', () => {
  const head = { id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 1, model: 'm' }
  const chunk = (delta: object, more: object = {}, top: object = {}) => ({
    ...head,
    ...top,
    choices: [{ index: 0, delta, finish_reason: null, ...more }],
  })
  const piece = (text: string) => ({ reasoning: text, reasoning_details: [{ type: 'reasoning.text', text, index: 0 }] })
  const signed = { type: 'reasoning.text', signature: 'S', format: 'anthropic-claude-v1', index: 0 }
  const sealed = { type: 'reasoning.encrypted', data: 'E', id: 'call_1', index: 1 }
  const call = { index: 0, id: 'call_1', type: 'function', function: { name: 'f', arguments: '{}' } }
  const asked = { model: 'chat/m', messages: question }

  const openrouter = [
    ...data(
      chunk({ role: 'assistant', content: '', ...piece('Let me ') }, {}, { provider: 'Anthropic' }),
      chunk({ content: '', ...piece('see.') }, {}, { provider: 'Anthropic' }),
      chunk({ content: '', reasoning_details: [signed] }, {}, { provider: 'Anthropic' }),
      chunk({ content: 'ok' }, {}, { provider: 'Anthropic' }),
      chunk({ content: '', tool_calls: [call], reasoning_details: [sealed] }, {}, { provider: 'Anthropic' }),
      chunk({ content: '' }, { finish_reason: 'tool_calls', native_finish_reason: 'tool_use' }, { provider: 'Anthropic' }),
    ),
    'data: [DONE]\n\n',
  ]

  it('OpenRouter: the details of a thought, whole and in order', async () => {
    const chunks = await streamed(await open({ guardrails: blocking }), '/v1/chat/completions', asked, openrouter)
    expect(said(chunks, 'reasoning_details').flat()).toEqual([{ ...signed, text: 'Let me see.' }, sealed])
    expect(said(chunks, 'native_finish_reason')).toEqual(['tool_use'])
    expect(new Set(chunks.map(({ provider }) => provider))).toEqual(new Set(['Anthropic']))
    expect(said(chunks, 'content').join('')).toBe('ok')
  })

  it('a redacted thought is not said again in its details, nor is what seals it', async () => {
    const t = await open({ guardrails: redacting })
    const frames = data(
      chunk({ role: 'assistant', ...piece(`The key is ${SECRET.slice(0, 10)}`) }),
      chunk({ ...piece(SECRET.slice(10)) }),
      chunk({ reasoning_details: [signed] }),
      chunk({ content: 'ok' }),
      chunk({ reasoning_details: [sealed] }, { finish_reason: 'stop', quoted: SECRET }),
    )
    const chunks = await streamed(t, '/v1/chat/completions', asked, [...frames, 'data: [DONE]\n\n'])
    expect(said(chunks, 'reasoning_content').join('')).toBe('The key is [SECRET_REDACTED]')
    expect(said(chunks, 'reasoning_details')).toEqual([])
    expect(JSON.stringify(chunks)).not.toContain(SECRET.slice(10))
  })

  it('a redacted thought is not carried to a generate-content client in the signature of its call', async () => {
    const t = await open({ guardrails: redacting })
    const thoughts = (text: string) =>
      data(
        chunk({ role: 'assistant', ...piece(text) }),
        chunk({ reasoning_details: [signed] }),
        chunk({ tool_calls: [call] }),
        chunk({}, { finish_reason: 'tool_calls' }),
      )
    const path = '/v1beta/models/chat/m:streamGenerateContent?alt=sse'
    const contents = [{ role: 'user', parts: [{ text: 'hi' }] }]
    const redacted = await streamed(t, path, { contents }, [...thoughts(`The key is ${SECRET}`), 'data: [DONE]\n\n'])
    expect(said(redacted, 'functionCall')).toHaveLength(1)
    expect(said(redacted, 'thoughtSignature')).toEqual([])
    const clean = await streamed(t, path, { contents }, [...thoughts('A key.'), 'data: [DONE]\n\n'])
    expect(said(clean, 'thoughtSignature')).toHaveLength(1)
  })

  it('details that say more than their thought are read', async () => {
    const t = await open({ guardrails: redacting })
    const details = [{ type: 'reasoning.text', text: `b ${SECRET}` }]
    const frames = data(
      chunk({ reasoning: 'a', reasoning_details: details }),
      chunk({ content: 'ok' }, { finish_reason: 'stop' }),
    )
    const chunks = await streamed(t, '/v1/chat/completions', asked, [...frames, 'data: [DONE]\n\n'])
    expect(JSON.stringify(chunks)).not.toContain(SECRET)
    expect(said(chunks, 'content').join('')).toBe('ok')
  })

  it('Azure, Perplexity: the client puts the same answer together, streamed or not', async () => {
    const t = await open({ guardrails: blocking })
    const { url } = await t.listen()
    const client = new OpenAI({ baseURL: `${url}/v1`, apiKey: 'none', maxRetries: 0 })
    const filtered = { hate: { filtered: false, severity: 'safe' } }
    const top = {
      system_fingerprint: 'fp',
      prompt_filter_results: [{ prompt_index: 0, content_filter_results: filtered }],
      citations: ['https://a.example'],
      search_results: [{ title: 'A', url: 'https://a.example' }],
    }
    const { prompt_filter_results, search_results, ...every } = top
    const usage = { prompt_tokens: 1, completion_tokens: 2, total_tokens: 3 }
    const frames = data(
      { id: '', object: '', created: 0, model: '', choices: [], prompt_filter_results },
      chunk({ role: 'assistant', content: '' }, {}, every),
      chunk({ content: 'ok' }, { content_filter_results: filtered }, every),
      chunk({}, { finish_reason: 'stop', content_filter_results: {} }, { ...every, search_results }),
      { ...head, ...every, choices: [], usage },
    )
    t.upstream.script({ kind: 'frames', frames: [...frames, 'data: [DONE]\n\n'] })
    const live = await client.chat.completions.stream({ ...asked, stream_options: { include_usage: true } }).finalChatCompletion()
    const message = { role: 'assistant', content: 'ok', refusal: null }
    const whole = { ...head, ...top, object: 'chat.completion', usage }
    const choice = { index: 0, message, finish_reason: 'stop', logprobs: null, content_filter_results: {} }
    t.upstream.script(raw(200, JSON.stringify({ ...whole, choices: [choice] })))
    const once = await client.chat.completions.create(asked)
    expect(live).toMatchObject(top)
    const { usage: _live, ...answer } = live
    const { usage: _once, ...expected } = once
    expect(answer).toEqual({ ...expected, choices: [{ ...choice, message: { ...message, parsed: null } }] })
  })
})

describe('messages', () => {
  const container = { id: 'container_1', expires_at: '2026-12-01T00:00:00Z' }
  const context_management = { applied_edits: [{ type: 'clear_tool_uses_20250919', cleared_tool_uses: 2 }] }
  const usage = { input_tokens: 3, output_tokens: 5 }
  const caller = { type: 'code_execution_20250825', tool_id: 'srvtoolu_1' }
  const message = { id: 'msg_1', type: 'message', role: 'assistant', model: 'm' }
  const content = [
    { type: 'text', text: 'ok' },
    { type: 'tool_use', id: 'toolu_1', name: 'f', input: {}, caller },
  ]
  const asked = { model: 'messages/m', max_tokens: 50, messages: question }

  const answered = async (stop: Record<string, unknown>) => {
    const t = await open({ guardrails: blocking })
    const { url } = await t.listen()
    const client = new Anthropic({ baseURL: url, apiKey: 'none', maxRetries: 0 })
    const begun = { stop_reason: null, stop_sequence: null, stop_details: null, container: null }
    const frames = events(
      { type: 'message_start', message: { ...message, ...begun, content: [], usage, vendor: 'v' } },
      ...content.flatMap((block, index) => [
        { type: 'content_block_start', index, content_block: block },
        { type: 'content_block_stop', index },
      ]),
      { type: 'message_delta', delta: { ...stop, stop_sequence: null, container }, usage, context_management },
      { type: 'message_stop' },
    )
    t.upstream.script({ kind: 'frames', frames })
    const live = await client.beta.messages.stream(asked).finalMessage()
    const whole = { ...message, content, ...stop, stop_sequence: null, container, context_management, usage, vendor: 'v' }
    t.upstream.script(raw(200, JSON.stringify(whole)))
    return { live, once: await client.beta.messages.create(asked) }
  }

  it('the container, applied edits and the caller of a tool, streamed as not streamed', async () => {
    const { live, once } = await answered({ stop_reason: 'tool_use', stop_details: null })
    expect(live).toMatchObject({ container, context_management, content: [content[0], { caller }], vendor: 'v' })
    const {
      usage: _live,
      diagnostics: _diagnostics,
      parsed_output: _parsed,
      ...answer
    } = live as unknown as Record<string, unknown>
    const { usage: _once, ...expected } = once as unknown as Record<string, unknown>
    expect(answer).toEqual(expected)
  })

  it('why a model refused', async () => {
    const stop_details = { type: 'refusal', category: 'cyber', explanation: 'No.' }
    const { live } = await answered({ stop_reason: 'refusal', stop_details })
    expect(live.stop_details).toEqual(stop_details)
  })
})

describe('generate_content', () => {
  const groundingMetadata = {
    webSearchQueries: ['q'],
    searchEntryPoint: { renderedContent: '<div></div>' },
    groundingChunks: [{ web: { uri: 'https://a.example', title: 'A' } }],
    groundingSupports: [
      { segment: { startIndex: 0, endIndex: 2, text: 'ok' }, groundingChunkIndices: [0], confidenceScores: [1] },
    ],
  }
  const cited = (...uris: string[]) => uris.map((uri) => ({ startIndex: 0, endIndex: 2, uri }))
  const safetyRatings = [{ category: 'HARM_CATEGORY_HATE_SPEECH', probability: 'NEGLIGIBLE' }]
  const item = (text: string, more: object = {}) => ({
    candidates: [{ content: { role: 'model', parts: [{ text }] }, index: 0, ...more }],
    modelVersion: 'm',
    responseId: 'r',
  })
  const path = '/v1beta/models/generate_content/m:streamGenerateContent?alt=sse'
  const frames = (text: string) =>
    data(
      item(text, { citationMetadata: { citationSources: cited('https://a.example') } }),
      item('', {
        finishReason: 'STOP',
        citationMetadata: { citationSources: cited('https://b.example') },
        groundingMetadata,
        safetyRatings,
        avgLogprobs: -0.5,
      }),
    )
  const body = { contents: [{ role: 'user', parts: [{ text: 'hi' }] }] }

  it('grounding, citations, ratings', async () => {
    const t = await open({ guardrails: blocking })
    const { url } = await t.listen()
    const client = new GoogleGenAI({ apiKey: 'none', httpOptions: { baseUrl: url } })
    t.upstream.script({ kind: 'frames', frames: frames('ok') })
    const items = []
    const stream = await client.models.generateContentStream({ model: 'generate_content/m', contents: 'hi' })
    for await (const one of stream) items.push(one)
    expect(items.at(-1)?.candidates?.[0]).toMatchObject({
      groundingMetadata,
      citationMetadata: { citations: cited('https://a.example', 'https://b.example') },
      safetyRatings,
      avgLogprobs: -0.5,
    })
  })

  it('what a support quotes of a redacted text goes, streamed and whole', async () => {
    const t = await open({ guardrails: redacting })
    const quoting = {
      ...groundingMetadata,
      groundingSupports: [{ segment: { endIndex: 9, text: SECRET }, groundingChunkIndices: [0] }],
    }
    const last = item('', { finishReason: 'STOP', groundingMetadata: quoting })
    t.upstream.script({ kind: 'frames', frames: data(item(SECRET), last) })
    const live = await (await t.post(path, body)).text()
    t.upstream.script(raw(200, JSON.stringify(item(SECRET, { finishReason: 'STOP', groundingMetadata: quoting }))))
    const whole = await (await t.post('/v1beta/models/generate_content/m:generateContent', body)).text()
    for (const answer of [live, whole]) {
      expect(answer).toContain('[SECRET_REDACTED]')
      expect(answer).not.toContain(SECRET)
    }
  })

  it('a refused prompt says why', async () => {
    const t = await open({ guardrails: blocking })
    const promptFeedback = { blockReason: 'SAFETY', safetyRatings }
    t.upstream.script({ kind: 'frames', frames: data({ promptFeedback, modelVersion: 'm', responseId: 'r' }) })
    const text = await (await t.post(path, body)).text()
    expect(JSON.parse(text.trim().slice(6))).toMatchObject({ promptFeedback })
    expect(text).not.toContain('"candidates"')
  })
})

describe('responses', () => {
  it('what the vendor adds to a response comes with its end', async () => {
    const t = await open({ guardrails: blocking })
    const { url } = await t.listen()
    const client = new OpenAI({ baseURL: `${url}/v1`, apiKey: 'none', maxRetries: 0 })
    const own = { moderation: { flagged: false }, safety_identifier: 'id', reasoning: { effort: 'low', summary: 'auto' } }
    const text = { type: 'output_text', text: 'ok', annotations: [], logprobs: [] }
    const output = [{ id: 'msg_1', type: 'message', role: 'assistant', status: 'completed', content: [text] }]
    const usage = { input_tokens: 1, output_tokens: 2, total_tokens: 3 }
    const response = { id: 'resp_1', object: 'response', created_at: 1, model: 'm', status: 'completed', ...own, output, usage }
    const begun = { ...response, status: 'in_progress', output: [], usage: null }
    const frames = events(
      ...[{ type: 'response.created', response: begun, sequence_number: 0 }],
      ...[{ type: 'response.completed', response, sequence_number: 1 }],
    )
    t.upstream.script({ kind: 'frames', frames })
    const live = await client.responses.stream({ model: 'responses/m', input: 'hi' }).finalResponse()
    expect(live).toMatchObject({ ...own, output_text: 'ok', status: 'completed' })
  })
})
