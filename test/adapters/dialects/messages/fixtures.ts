// Shared by the tests of the messages dialect, in addition to test/support/dialects.ts: its codec, its parts, its frames.
import { messagesDialect } from '../../../../adapters/dialects/messages/index.ts'
import { claudeCaps } from '../../../../adapters/providers/caps/claude.ts'
import { headerBag } from '../../../../core/http/headers.ts'
import { wireBody } from '../../../../core/json/wire-body.ts'
import { createSseSplitter } from '../../../../core/stream/sse.ts'
import type { CanonicalRequest, Frozen, JsonObject, Message, Part } from '../../../../core/types/request/canonical.ts'
import type { CodecContext, SseFrame, StreamDecoder } from '../../../../core/types/request/dialect.ts'
import type { StreamEvent } from '../../../../core/types/request/stream.ts'
import { canonicalRequest, freeze, type TestHop, toolCall, user, warningCodec } from '../../../support/dialects.ts'

export { assistant, freeze as deepFreeze, type TestHop, user } from '../../../support/dialects.ts'

/** `model` selects the caps unless they are given. */
export function testHop(overrides: Partial<CodecContext> = {}): TestHop {
  let ids = 0
  const model = overrides.model ?? 'claude-sonnet-4-5'
  const codec = warningCodec(messagesDialect, {
    provider: 'anthropic',
    model,
    caller: 'chat',
    caps: claudeCaps(model),
    now: () => 1_750_000_000_000,
    id: (prefix: string) => `${prefix}test${++ids}`,
  })
  // Records every warning, also a second one of the same kind.
  return { ...codec, warn: (slug) => void codec.warnings.push(slug), ...overrides }
}

export function request(overrides: Partial<CanonicalRequest> = {}): Frozen<CanonicalRequest> {
  return freeze(canonicalRequest({ model: 'anthropic/claude', source: 'chat', messages: [user('Hi')], ...overrides }))
}

export function tool(...parts: Part[]): Message {
  return { role: 'tool', parts }
}

export function call(id: string, name = 'f', args = '{}'): Part {
  return toolCall(id, name, args)
}

export function result(callId: string, text = 'ok'): Part {
  return { t: 'tool_result', callId, parts: text === '' ? [] : [{ t: 'text', text }] }
}

/** Returns the encoded body, parsed. */
export function encode(overrides: Partial<CanonicalRequest>, codec: CodecContext = testHop()): JsonObject {
  return messagesDialect.encodeRequest(request(overrides), codec).body.json() as JsonObject
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

/** Returns SSE text for `{type, …}` objects. */
export function sse(...events: { type: string; [key: string]: unknown }[]): string {
  return events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join('')
}
