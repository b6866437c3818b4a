// What tests of dialects and of whole gateways share: the four drivers, canonical messages by hand, frozen input, streams by
// text, and answers read back in the caller's dialect.
import { chatDialect } from '../../adapters/dialects/chat/index.ts'
import { generateContentDialect } from '../../adapters/dialects/generate-content/index.ts'
import { messagesDialect } from '../../adapters/dialects/messages/index.ts'
import { responsesDialect } from '../../adapters/dialects/responses/index.ts'
import { contractContext } from '../../adapters/testing/index.ts'
import { deepFreeze } from '../../core/collections/deep-freeze.ts'
import { parsedBody } from '../../core/json/wire-body.ts'
import { collector } from '../../core/stream/collect.ts'
import { createSseSplitter } from '../../core/stream/sse.ts'
import type { CanonicalResponse } from '../../core/types/request/answer.ts'
import type { CanonicalRequest, Dialect, Frozen, Message, Part } from '../../core/types/request/canonical.ts'
import type { CodecContext, DialectDriver } from '../../core/types/request/dialect.ts'
import type { StreamEvent } from '../../core/types/request/stream.ts'

export const DIALECTS: readonly Dialect[] = ['chat', 'messages', 'responses', 'generate_content']

export const DRIVERS: Readonly<Record<Dialect, DialectDriver>> = {
  chat: chatDialect,
  messages: messagesDialect,
  responses: responsesDialect,
  generate_content: generateContentDialect,
}

export type TestHop = CodecContext & { readonly warnings: string[] }

/** A codec that writes down each warning once; `facts` are the dialect's own defaults and the test's. */
export function warningCodec(driver: DialectDriver, facts: Partial<CodecContext>): TestHop {
  const warnings: string[] = []
  let ids = 0
  return {
    ...contractContext(driver),
    operation: 'chat',
    requestId: 'req_1',
    stream: false,
    includeUsage: false,
    id: (prefix) => `${prefix}id${++ids}`,
    warn: (slug) => void (warnings.includes(slug) || warnings.push(slug)),
    warnings,
    ...facts,
  }
}

export function canonicalRequest(
  facts: Partial<CanonicalRequest> & Pick<CanonicalRequest, 'model' | 'source'>,
): CanonicalRequest {
  return { stream: false, system: [], messages: [user('hi')], tools: [], sampling: {}, headers: {}, ext: {}, ...facts }
}

export function user(...parts: (string | Part)[]): Message {
  return { role: 'user', parts: parts.map(textPart) }
}

export function assistant(...parts: (string | Part)[]): Message {
  return { role: 'assistant', parts: parts.map(textPart) }
}

export function textPart(value: string | Part): Part {
  return typeof value === 'string' ? { t: 'text', text: value } : value
}

export function toolCall(id: string, name: string, args = '{}', extra: Partial<Extract<Part, { t: 'tool_call' }>> = {}): Part {
  return { t: 'tool_call', id, idMinted: false, name, args, kind: 'function', ...extra }
}

export function freeze<T>(value: T): Frozen<T> {
  return deepFreeze(value) as Frozen<T>
}

export type Cut = (bytes: Uint8Array) => Uint8Array[]

/** What a driver reads out of SSE text, each event as it was when it was emitted. */
export function streamEvents(
  driver: DialectDriver,
  text: string | Uint8Array,
  codec: CodecContext,
  cut: Cut = (bytes) => [bytes],
): StreamEvent[] {
  const events: StreamEvent[] = []
  const decoder = driver.decodeStream(codec)
  const splitter = createSseSplitter()
  const emit = (event: StreamEvent): void => void events.push(structuredClone(event))
  const bytes = typeof text === 'string' ? new TextEncoder().encode(text) : text
  for (const chunk of cut(bytes)) splitter.push(chunk, (frame) => decoder.frame(frame, emit))
  splitter.end((frame) => decoder.frame(frame, emit))
  decoder.end(emit)
  return events
}

/** SSE text of events. */
export function streamText(driver: DialectDriver, events: readonly StreamEvent[], codec: CodecContext): string {
  const encoder = driver.encodeStream(codec)
  return events.map((event) => encoder.event(event)).join('')
}

/** An answer as its caller reads it, whole or streamed. @throws when it is an error or not complete. */
export function answerOf(dialect: Dialect, text: string, stream: boolean): CanonicalResponse {
  const driver = DRIVERS[dialect]
  if (!stream) return driver.decodeResponse(parsedBody(new TextEncoder().encode(text)), contractContext(driver))
  const whole = collector()
  for (const event of streamEvents(driver, text, contractContext(driver))) whole.event(event)
  return whole.response()
}

/** Thought and text of a choice, joined. */
export function saidBy(response: Frozen<CanonicalResponse>, choice = 0): { thought: string; text: string } {
  const said = { thought: '', text: '' }
  for (const part of response.choices.find(({ index }) => index === choice)?.parts ?? []) {
    if (part.t === 'text') said.text += part.text
    if (part.t === 'reasoning') said.thought += part.text || (part.summary ?? []).join('\n\n')
  }
  return said
}
