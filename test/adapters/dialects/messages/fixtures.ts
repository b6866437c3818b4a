// A hop, canonical requests and frozen copies for the tests of the messages dialect.

import { messagesDialect } from '../../../../adapters/dialects/messages/index.ts'
import { claudeCaps } from '../../../../adapters/providers/caps/claude.ts'
import { headerBag } from '../../../../core/lib/headers.ts'
import { createSseSplitter } from '../../../../core/lib/sse.ts'
import { wireBody } from '../../../../core/lib/wire-body.ts'
import type { CanonicalRequest, Frozen, Json, JsonObject, Message, Part } from '../../../../core/types/canonical.ts'
import type { Hop, SseFrame, StreamDecoder } from '../../../../core/types/dialect.ts'
import type { StreamEvent } from '../../../../core/types/stream.ts'

export interface TestHop extends Hop {
  readonly warnings: string[]
}

/** `model` decides the caps unless they are given. */
export function testHop(overrides: Partial<Hop> = {}): TestHop {
  const warnings: string[] = []
  let ids = 0
  const model = overrides.model ?? 'claude-sonnet-4-5'
  return {
    provider: 'anthropic',
    model,
    caller: 'chat',
    upstream: 'messages',
    operation: 'chat',
    caps: claudeCaps(model),
    quirks: {},
    requestId: 'req_1',
    stream: false,
    includeUsage: false,
    sse: true,
    names: new Map<string, string>(),
    notes: new Map<string, Json>(),
    request: null,
    warnings,
    warn: (slug) => void warnings.push(slug),
    now: () => 1_750_000_000_000,
    id: (prefix) => `${prefix}test${++ids}`,
    ...overrides,
  }
}

export function request(overrides: Partial<CanonicalRequest> = {}): Frozen<CanonicalRequest> {
  return deepFreeze({
    model: 'anthropic/claude',
    stream: false,
    source: 'chat',
    system: [],
    messages: [user('Hi')],
    tools: [],
    sampling: {},
    headers: {},
    ext: {},
    ...overrides,
  })
}

export function user(...parts: (string | Part)[]): Message {
  return { role: 'user', parts: parts.map(part) }
}

export function assistant(...parts: (string | Part)[]): Message {
  return { role: 'assistant', parts: parts.map(part) }
}

export function tool(...parts: Part[]): Message {
  return { role: 'tool', parts }
}

export function call(id: string, name = 'f', args = '{}'): Part {
  return { t: 'tool_call', id, idMinted: false, name, args, kind: 'function' }
}

export function result(callId: string, text = 'ok'): Part {
  return { t: 'tool_result', callId, parts: text === '' ? [] : [{ t: 'text', text }] }
}

/** The encoded body, parsed. */
export function encode(overrides: Partial<CanonicalRequest>, hop: Hop = testHop()): JsonObject {
  return messagesDialect.encodeRequest(request(overrides), hop).body.json() as JsonObject
}

export function decode(
  body: object | string,
  headers: string[] = [],
  operation: 'chat' | 'count_tokens' = 'chat',
): CanonicalRequest {
  const text = typeof body === 'string' ? body : JSON.stringify(body)
  return messagesDialect.decodeRequest(wireBody(text), headerBag(headers), { operation })
}

export function framesOf(text: string): SseFrame[] {
  const frames: SseFrame[] = []
  const splitter = createSseSplitter()
  splitter.push(new TextEncoder().encode(text), (frame) => frames.push(frame))
  splitter.end((frame) => frames.push(frame))
  return frames
}

export function eventsOf(decoder: StreamDecoder, text: string): StreamEvent[] {
  const out: StreamEvent[] = []
  for (const frame of framesOf(text)) decoder.frame(frame, (event) => out.push(event))
  decoder.end((event) => out.push(event))
  return out
}

/** SSE text from `{type, …}` objects. */
export function sse(...events: { type: string; [key: string]: unknown }[]): string {
  return events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join('')
}

export function deepFreeze<T>(value: T): Frozen<T> {
  if (typeof value === 'object' && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value)
    for (const member of Object.values(value)) deepFreeze(member)
  }
  return value as Frozen<T>
}

function part(value: string | Part): Part {
  return typeof value === 'string' ? { t: 'text', text: value } : value
}
