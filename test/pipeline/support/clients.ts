// The four official SDKs with one question each, and their results for an application: an answer or an exception. It throws for results
// that no application may get: an empty success, a stream without a finish, a helper that never ends.
import Anthropic, { APIError as AnthropicError } from '@anthropic-ai/sdk'
import { ApiError as GoogleError, GoogleGenAI } from '@google/genai'
import OpenAI, { APIConnectionError, APIError as OpenAIError } from 'openai'
import type { Dialect } from '../../../core/types/request/canonical.ts'
import { wordCode } from '../../support/google-error.ts'

export interface Raised {
  /** The SDK's class, and its base classes. */
  name: string
  classes: string[]
  /** null: inside a started stream. */
  status: number | null
  message: string
  code: string | null
  type: string | null
  retryAfter: string | null
}

export interface Seen {
  text: string
  /** Number of text deltas before the end. */
  deltas: number
  raised: Raised | null
}

export interface Ask {
  model: string
  stream: boolean
  prompt?: string
  signal?: AbortSignal
  onDelta?: (text: string) => void
  /** True: the answer has no text, only a tool call or a refusal. */
  empty?: boolean
}

export type Client = (ask: Ask) => Promise<Seen>

export function clients(url: string): Readonly<Record<Dialect, Client>> {
  const openai = new OpenAI({ apiKey: 'sk-client', baseURL: `${url}/v1`, maxRetries: 0 })
  const anthropic = new Anthropic({ apiKey: 'sk-client', baseURL: url, maxRetries: 0 })
  const google = new GoogleGenAI({ apiKey: 'sk-client', httpOptions: { baseUrl: url } })
  return {
    chat: watched((ask, seen) => askChat(openai, ask, seen)),
    responses: watched((ask, seen) => askResponses(openai, ask, seen)),
    messages: watched((ask, seen) => askMessages(anthropic, ask, seen)),
    generate_content: watched((ask, seen) => askGoogle(google, ask, seen)),
  }
}

function watched(run: (ask: Ask, seen: Seen) => Promise<void>): Client {
  return async (ask) => {
    const seen: Seen = { text: '', deltas: 0, raised: null }
    try {
      await run(ask, seen)
    } catch (thrown) {
      seen.raised = raised(thrown)
    }
    if (seen.raised === null && seen.text === '' && !ask.empty) throw new Error('The SDK returned an empty success.')
    return seen
  }
}

function grow(ask: Ask, seen: Seen, text: string): void {
  if (text === '') return
  seen.text += text
  seen.deltas++
  ask.onDelta?.(text)
}

async function askChat(client: OpenAI, ask: Ask, seen: Seen): Promise<void> {
  const { signal, model } = ask
  const params = { model, messages: [{ role: 'user' as const, content: ask.prompt ?? 'hi' }] }
  if (!ask.stream) {
    const completion = await client.chat.completions.create(params, { signal })
    grow(ask, seen, completion.choices[0]?.message.content ?? '')
    return
  }
  const runner = client.chat.completions.stream({ ...params, stream: true }, { signal })
  for await (const chunk of runner) grow(ask, seen, chunk.choices[0]?.delta.content ?? '')
  await runner.finalChatCompletion()
}

async function askResponses(client: OpenAI, ask: Ask, seen: Seen): Promise<void> {
  const { signal, model } = ask
  const params = { model, input: ask.prompt ?? 'hi' }
  if (!ask.stream) {
    grow(ask, seen, (await client.responses.create(params, { signal })).output_text)
    return
  }
  const runner = client.responses.stream(params, { signal })
  for await (const event of runner) {
    if (event.type === 'response.output_text.delta') grow(ask, seen, event.delta)
    if (event.type === 'response.failed') {
      const { error } = event.response
      const { message = '', code = null } = error ?? {}
      seen.raised = { name: 'response.failed', classes: [], status: null, message, code, type: null, retryAfter: null }
    }
  }
  const { status } = await runner.finalResponse()
  if (seen.raised === null && status !== 'completed' && !(ask.empty && status === 'incomplete'))
    throw new Error(`The response helper ended quietly in ${status}.`)
}

async function askMessages(client: Anthropic, ask: Ask, seen: Seen): Promise<void> {
  const { signal, model } = ask
  const params = { model, max_tokens: 100, messages: [{ role: 'user' as const, content: ask.prompt ?? 'hi' }] }
  if (!ask.stream) {
    const message = await client.messages.create(params, { signal })
    for (const block of message.content) if (block.type === 'text') grow(ask, seen, block.text)
    return
  }
  const runner = client.messages.stream(params, { signal })
  runner.on('text', (text) => grow(ask, seen, text))
  const message = await runner.finalMessage()
  if (message.stop_reason === null) throw new Error('The message has no stop_reason.')
}

async function askGoogle(client: GoogleGenAI, ask: Ask, seen: Seen): Promise<void> {
  const { signal, model } = ask
  const params = { model, contents: ask.prompt ?? 'hi', config: { ...(signal ? { abortSignal: signal } : {}) } }
  if (!ask.stream) {
    grow(ask, seen, (await client.models.generateContent(params)).text ?? '')
    return
  }
  let finish: string | undefined
  for await (const chunk of await client.models.generateContentStream(params)) {
    grow(ask, seen, chunk.text ?? '')
    finish = chunk.candidates?.[0]?.finishReason ?? finish
  }
  if (finish === undefined) throw new Error('The stream has no finishReason.')
}

function raised(thrown: unknown): Raised {
  if (thrown instanceof OpenAIError || thrown instanceof AnthropicError) {
    const error = body(thrown.error)
    return {
      name: thrown.constructor.name,
      classes: classesOf(thrown),
      status: thrown.status ?? null,
      message: thrown.message,
      code: (error.code as string | undefined) ?? null,
      type: (error.type as string | undefined) ?? null,
      retryAfter: (thrown.headers as Headers | undefined)?.get('retry-after') ?? null,
    }
  }
  if (thrown instanceof GoogleError) {
    const error = body(parsed(thrown.message))
    const inStream = thrown.message.startsWith('got status:')
    return {
      name: 'ApiError',
      classes: ['ApiError'],
      status: inStream ? null : thrown.status,
      message: String(error.message ?? thrown.message),
      code: inStream ? null : ((wordCode(error) as string | null | undefined) ?? null),
      type: (error.type as string | undefined) ?? null,
      retryAfter: null,
    }
  }
  throw thrown
}

/** Returns true for an exception about a broken connection, which a client should never get for an upstream's fault. */
export function isConnectionError(name: string): boolean {
  return name === APIConnectionError.name || name === 'APIConnectionTimeoutError'
}

function classesOf(thrown: object): string[] {
  const names: string[] = []
  for (let at = Object.getPrototypeOf(thrown); at !== null && at !== Object.prototype; at = Object.getPrototypeOf(at))
    names.push(at.constructor.name)
  return names
}

function body(value: unknown): Record<string, unknown> {
  const outer = (value ?? {}) as { error?: Record<string, unknown> }
  return outer.error ?? (outer as Record<string, unknown>)
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text.slice(text.indexOf('{')))
  } catch {
    return {}
  }
}
