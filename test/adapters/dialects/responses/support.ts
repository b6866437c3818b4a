// What the tests of this dialect share: a hop, requests by hand, frozen input, streams by text, the official SDKs.
import { createOpenAI } from '@ai-sdk/openai'
import OpenAI from 'openai'
import { responsesDialect as driver } from '../../../../adapters/dialects/responses/index.ts'
import { headerBag } from '../../../../core/lib/headers.ts'
import { createSseSplitter } from '../../../../core/lib/sse.ts'
import { wireBody } from '../../../../core/lib/wire-body.ts'
import type { CanonicalRequest, Frozen, Message, Part } from '../../../../core/types/canonical.ts'
import type { Hop } from '../../../../core/types/dialect.ts'
import type { StreamEvent } from '../../../../core/types/stream.ts'

export { driver }

export type TestHop = Hop & { warnings: string[] }
// biome-ignore lint/suspicious/noExplicitAny: wire objects are looked into freely
export type Wire = any

export function hop(overrides: Partial<Hop> = {}): TestHop {
  const warnings: string[] = []
  let ids = 0
  return {
    provider: 'openai',
    model: 'gpt-5.6',
    caller: 'responses',
    upstream: 'responses',
    operation: 'chat',
    caps: { family: 'gpt' },
    quirks: {},
    requestId: 'req_1',
    stream: false,
    includeUsage: false,
    sse: true,
    names: new Map(),
    notes: new Map(),
    request: null,
    warn: (slug) => void (warnings.includes(slug) || warnings.push(slug)),
    now: () => 1_795_000_000_000,
    id: (prefix) => `${prefix}id${++ids}`,
    warnings,
    ...overrides,
  }
}

export function request(overrides: Partial<CanonicalRequest> = {}): CanonicalRequest {
  return {
    model: 'openai/gpt-5.6',
    stream: false,
    source: 'chat',
    system: [],
    messages: [user('hi')],
    tools: [],
    sampling: {},
    headers: {},
    ext: {},
    ...overrides,
  }
}

export function user(...parts: (string | Part)[]): Message {
  return { role: 'user', parts: parts.map(part) }
}
export function assistant(...parts: (string | Part)[]): Message {
  return { role: 'assistant', parts: parts.map(part) }
}
export function call(id: string, name: string, args = '{}', extra: object = {}): Part {
  return { t: 'tool_call', id, idMinted: false, name, args, kind: 'function', ...extra }
}
export function result(callId: string, ...parts: (string | Part)[]): Part {
  return { t: 'tool_result', callId, parts: parts.map(part) }
}
function part(value: string | Part): Part {
  return typeof value === 'string' ? { t: 'text', text: value } : value
}

export function freeze<T>(value: T): Frozen<T> {
  if (typeof value === 'object' && value !== null) {
    Object.freeze(value)
    for (const member of Object.values(value)) freeze(member)
  }
  return value as Frozen<T>
}

export function decode(body: object | string, headers: string[] = []): CanonicalRequest {
  const wire = wireBody(typeof body === 'string' ? body : JSON.stringify(body))
  return freeze(driver.decodeRequest(wire, headerBag(headers), { operation: 'chat' })) as CanonicalRequest
}

/** The body sent to a responses upstream. */
export function encode(from: CanonicalRequest, at: Hop = hop()): Wire {
  return driver.encodeRequest(freeze(from), at).body.json()
}

export function decodeText(text: string | Uint8Array, at: Hop = hop(), split = Number.POSITIVE_INFINITY): StreamEvent[] {
  const bytes = typeof text === 'string' ? new TextEncoder().encode(text) : text
  const events: StreamEvent[] = []
  const emit = (event: StreamEvent) => void events.push(event)
  const decoder = driver.decodeStream(at)
  const splitter = createSseSplitter()
  for (let i = 0; i < bytes.length; i += split) {
    splitter.push(bytes.slice(i, Math.min(bytes.length, i + split)), (frame) => decoder.frame(frame, emit))
  }
  splitter.end((frame) => decoder.frame(frame, emit))
  decoder.end(emit)
  return events
}

export function encodeEvents(events: readonly StreamEvent[], at: Hop = hop()): string {
  const encoder = driver.encodeStream(at)
  return events.map((event) => encoder.event(event)).join('')
}

export function wireEvents(text: string): Wire[] {
  return text
    .split('\n\n')
    .filter((frame) => frame !== '')
    .map((frame) => {
      const [head, data] = frame.split('\n') as [string, string]
      const event = JSON.parse(data.slice('data: '.length))
      if (head !== `event: ${event.type}`) throw new Error(`The event line does not say ${event.type}.`)
      return event
    })
}

export function partsOf(events: readonly StreamEvent[]): Part[] {
  const parts: Part[] = []
  for (const event of events) if (event.e === 'part_stop') parts[event.part] = event.full
  return parts
}

export function finishOf(events: readonly StreamEvent[]): string | undefined {
  return events.find((event) => event.e === 'finish')?.finish
}

const answering = (text: string, type: string) => async () =>
  new Response(text, { status: 200, headers: { 'content-type': type } })

export function openai(text: string, type = 'text/event-stream'): OpenAI {
  return new OpenAI({ apiKey: 'x', fetch: answering(text, type), maxRetries: 0 })
}

/** What the official stream helper makes of a stream. */
export async function sdkResponse(text: string): Promise<Wire> {
  return openai(text).responses.stream({ model: 'm', input: 'x' }).finalResponse()
}

export function aiModel(text: string, type = 'text/event-stream') {
  return createOpenAI({ apiKey: 'x', fetch: answering(text, type) }).responses('gpt-5.6')
}
