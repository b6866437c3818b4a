// Shared by the tests of this dialect, in addition to test/support/dialects.ts: its codec, its requests, its stream items.
import { generateContentDialect as driver } from '../../../../adapters/dialects/generate-content/index.ts'
import { geminiCaps } from '../../../../adapters/providers/caps/gemini.ts'
import { headerBag } from '../../../../core/http/headers.ts'
import { wireBody } from '../../../../core/json/wire-body.ts'
import type { CanonicalRequest, JsonObject, Message, Part } from '../../../../core/types/request/canonical.ts'
import type { CodecContext } from '../../../../core/types/request/dialect.ts'
import type { StreamEvent } from '../../../../core/types/request/stream.ts'
import {
  type Cut,
  canonicalRequest,
  freeze,
  streamEvents,
  streamText,
  type TestHop,
  textPart,
  warningCodec,
} from '../../../support/dialects.ts'

export { assistant, freeze, type TestHop, toolCall, user } from '../../../support/dialects.ts'
export { driver }

export function codec(overrides: Partial<CodecContext> = {}): TestHop {
  const model = overrides.model ?? 'gemini-3-flash'
  return warningCodec(driver, { provider: 'google', model, caller: 'chat', caps: geminiCaps(model), ...overrides })
}

export function request(overrides: Partial<CanonicalRequest> = {}): CanonicalRequest {
  return canonicalRequest({ model: 'google/gemini-3-flash', source: 'chat', ...overrides })
}

export function toolResult(callId: string, text: string, extra: Partial<Extract<Part, { t: 'tool_result' }>> = {}): Message {
  return { role: 'tool', parts: [{ t: 'tool_result', callId, parts: text === '' ? [] : [textPart(text)], ...extra }] }
}

/** Encodes a frozen request and returns the parsed body for the upstream. */
export function encode(
  canonical: CanonicalRequest,
  on: CodecContext = codec(),
): { path: string; body: JsonObject; text: string } {
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

export function decodeEvents(text: string, on: CodecContext = codec(), cut?: Cut): StreamEvent[] {
  return streamEvents(driver, text, on, cut)
}

export function encodeEvents(
  events: readonly StreamEvent[],
  on: CodecContext = codec({ caller: 'generate_content', upstream: 'chat' }),
): string {
  return streamText(driver, events, on)
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
