// What the tests of this dialect share: a hop, requests by hand, frozen input, streams by text.

import { generateContentDialect as driver } from '../../../../adapters/dialects/generate-content/index.ts'
import { geminiCaps } from '../../../../adapters/providers/caps/gemini.ts'
import { headerBag } from '../../../../core/lib/headers.ts'
import { createSseSplitter } from '../../../../core/lib/sse.ts'
import { wireBody } from '../../../../core/lib/wire-body.ts'
import type { CanonicalRequest, Frozen, JsonObject, Message, Part } from '../../../../core/types/canonical.ts'
import type { Hop } from '../../../../core/types/dialect.ts'
import type { StreamEvent } from '../../../../core/types/stream.ts'

export { driver }

export type TestHop = Hop & { warnings: string[] }

export function hop(overrides: Partial<Hop> = {}): TestHop {
  const warnings: string[] = []
  let ids = 0
  const model = overrides.model ?? 'gemini-3-flash'
  return {
    provider: 'google',
    model,
    caller: 'chat',
    upstream: 'generate_content',
    operation: 'chat',
    caps: geminiCaps(model),
    quirks: {},
    requestId: 'req_1',
    stream: false,
    includeUsage: false,
    sse: true,
    names: new Map(),
    notes: new Map(),
    request: null,
    warn: (slug) => void (warnings.includes(slug) || warnings.push(slug)),
    now: () => 1_700_000_000_000,
    id: (prefix) => `${prefix}id${++ids}`,
    warnings,
    ...overrides,
  }
}

export function request(overrides: Partial<CanonicalRequest> = {}): CanonicalRequest {
  return {
    model: 'google/gemini-3-flash',
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

export function toolResult(callId: string, text: string, extra: Partial<Extract<Part, { t: 'tool_result' }>> = {}): Message {
  return { role: 'tool', parts: [{ t: 'tool_result', callId, parts: text === '' ? [] : [part(text)], ...extra }] }
}

export function toolCall(id: string, name: string, args = '{}', extra: Partial<Extract<Part, { t: 'tool_call' }>> = {}): Part {
  return { t: 'tool_call', id, idMinted: false, name, args, kind: 'function', ...extra }
}

function part(value: string | Part): Part {
  return typeof value === 'string' ? { t: 'text', text: value } : value
}

export function freeze<T>(value: T): Frozen<T> {
  if (typeof value === 'object' && value !== null) {
    for (const member of Object.values(value)) freeze(member)
    Object.freeze(value)
  }
  return value as Frozen<T>
}

/** Encodes a frozen request; the parsed body is what an upstream would read. */
export function encode(canonical: CanonicalRequest, on: Hop = hop()): { path: string; body: JsonObject; text: string } {
  const encoded = driver.encodeRequest(freeze(canonical), on)
  return { path: encoded.path, body: encoded.body.json() as JsonObject, text: new TextDecoder().decode(encoded.body.bytes) }
}

export function decode(
  body: unknown,
  path: { model?: string; stream?: boolean } = { model: 'm', stream: false },
): CanonicalRequest {
  const text = typeof body === 'string' ? body : JSON.stringify(body)
  return driver.decodeRequest(wireBody(text), headerBag(), { ...path, operation: 'chat' })
}

export function decodeEvents(
  text: string,
  on: Hop = hop(),
  cut: (bytes: Uint8Array) => Uint8Array[] = (bytes) => [bytes],
): StreamEvent[] {
  const events: StreamEvent[] = []
  const decoder = driver.decodeStream(on)
  const splitter = createSseSplitter()
  const emit = (event: StreamEvent): void => void events.push(structuredClone(event))
  for (const chunk of cut(new TextEncoder().encode(text))) splitter.push(chunk, (frame) => decoder.frame(frame, emit))
  splitter.end((frame) => decoder.frame(frame, emit))
  decoder.end(emit)
  return events
}

export function encodeEvents(
  events: readonly StreamEvent[],
  on: Hop = hop({ caller: 'generate_content', upstream: 'chat' }),
): string {
  const encoder = driver.encodeStream(on)
  return events.map((event) => encoder.event(event)).join('')
}

export function partsOf(events: readonly StreamEvent[], choice = 0): Part[] {
  return events.flatMap((event) => (event.e === 'part_stop' && event.choice === choice ? [event.full] : []))
}

export function data(...items: unknown[]): string {
  return items.map((item) => `data: ${JSON.stringify(item)}\r\n\r\n`).join('')
}

export function items(sse: string): JsonObject[] {
  return sse
    .split(/\r?\n\r?\n/)
    .filter((frame) => frame !== '')
    .map((frame) => JSON.parse(frame.replace(/^data: /, '')) as JsonObject)
}
