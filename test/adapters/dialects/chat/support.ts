// Shared by the tests of the chat dialect, in addition to test/support/dialects.ts: its codec, its frames, its lanes.
import { chatDialect as driver } from '../../../../adapters/dialects/chat/index.ts'
import { headerBag } from '../../../../core/http/headers.ts'
import { wireBody } from '../../../../core/json/wire-body.ts'
import { createSseSplitter } from '../../../../core/stream/sse.ts'
import type { CanonicalRequest, Json, JsonObject, Message, Part } from '../../../../core/types/request/canonical.ts'
import type { CodecContext } from '../../../../core/types/request/dialect.ts'
import type { StreamEvent, StreamFacts } from '../../../../core/types/request/stream.ts'
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

export { assistant, type Cut, freeze, type TestHop, toolCall, user } from '../../../support/dialects.ts'
export { driver }

export function codec(overrides: Partial<CodecContext> = {}): TestHop {
  return warningCodec(driver, { provider: 'custom', model: 'some-model', caps: { family: 'custom' }, ...overrides })
}

export function request(overrides: Partial<CanonicalRequest> = {}): CanonicalRequest {
  return canonicalRequest({ model: 'custom/some-model', source: 'messages', ...overrides })
}

export function toolResult(
  callId: string,
  content: string | Part[],
  extra: Partial<Extract<Part, { t: 'tool_result' }>> = {},
): Message {
  const parts = typeof content === 'string' ? (content === '' ? [] : [textPart(content)]) : content
  return { role: 'tool', parts: [{ t: 'tool_result', callId, parts, ...extra }] }
}

export const PNG: Part = { t: 'image', src: { kind: 'base64', mime: 'image/png', data: 'iVBORw0KGgo=' } }

/** Returns the body for an upstream. */
export function encode(
  overrides: Partial<CanonicalRequest>,
  on: CodecContext = codec(),
): JsonObject & { messages: JsonObject[] } {
  return driver.encodeRequest(freeze(request(overrides)), on).body.json() as JsonObject & { messages: JsonObject[] }
}

export function decode(body: unknown, headers: string[] = []): CanonicalRequest {
  const text = typeof body === 'string' ? body : JSON.stringify(body)
  return driver.decodeRequest(wireBody(text), headerBag(headers), { operation: 'chat' })
}

/** Returns the caller's body after the byte lane, as text. */
export function splice(
  body: unknown,
  on: CodecContext = codec(),
  headers: string[] = [],
): { text: string; wire: JsonObject & { messages: JsonObject[] }; headers: string[] } {
  const source = wireBody(typeof body === 'string' ? body : JSON.stringify(body))
  const { headers: forwarded } = driver.spliceRequest(source, on, headerBag(headers))
  const text = new TextDecoder().decode(Buffer.concat(source.toBytes()))
  return { text, wire: JSON.parse(text), headers: forwarded }
}

export function decodeEvents(sse: string, on: CodecContext = codec(), cut?: Cut): StreamEvent[] {
  return streamEvents(driver, sse, on, cut)
}

export function encodeEvents(events: readonly StreamEvent[], on: CodecContext = codec({ upstream: 'messages' })): string {
  return streamText(driver, events, on)
}

export function filter(
  sse: string,
  on: CodecContext = codec(),
  cut: Cut = (bytes) => [bytes],
): { text: string; facts: StreamFacts } {
  const lane = driver.filterStream(on)
  const splitter = createSseSplitter()
  const decoder = new TextDecoder()
  let text = ''
  const take = (frame: Parameters<typeof lane.frame>[0]): void => {
    const out = lane.frame(frame)
    if (out !== null) text += typeof out === 'string' ? out : decoder.decode(out)
  }
  for (const chunk of cut(new TextEncoder().encode(sse))) splitter.push(chunk, take)
  splitter.end(take)
  return { text: text + lane.end(), facts: lane.facts }
}

export function partsOf(events: readonly StreamEvent[], choice = 0): Part[] {
  return events
    .filter((event) => event.e === 'part_stop' && event.choice === choice)
    .map((event) => event as Extract<StreamEvent, { e: 'part_stop' }>)
    .sort((a, b) => a.part - b.part)
    .map((event) => event.full)
}

export function only<E extends StreamEvent['e']>(events: readonly StreamEvent[], kind: E): Extract<StreamEvent, { e: E }>[] {
  return events.filter((event) => event.e === kind) as Extract<StreamEvent, { e: E }>[]
}

export function data(...items: unknown[]): string {
  return items.map((item) => `data: ${typeof item === 'string' ? item : JSON.stringify(item)}\n\n`).join('')
}

export function chunk(delta: object, finish: string | null = null, extra: object = {}, choice: object = {}): JsonObject {
  return {
    id: 'chatcmpl-1',
    object: 'chat.completion.chunk',
    created: 1,
    model: 'm',
    choices: [{ index: 0, delta: delta as Json, finish_reason: finish, ...choice }],
    ...extra,
  } as JsonObject
}

export const USAGE = { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 }

export function usageChunk(usage: object = USAGE): object {
  return { id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 1, model: 'm', choices: [], usage }
}

/** Returns the JSON frames of a stream, and the number of [DONE]. */
export function framesOf(sse: string): { frames: (JsonObject & { choices: JsonObject[] })[]; done: number } {
  const texts = sse
    .split('\n\n')
    .filter((frame) => frame !== '')
    .map((frame) => frame.replace(/^data: ?/, ''))
  return {
    frames: texts.filter((text) => text !== '[DONE]').map((text) => JSON.parse(text)),
    done: texts.filter((text) => text === '[DONE]').length,
  }
}

export function thrown(fn: () => unknown): { status: number; param: string | null; code: string | null; message: string } {
  try {
    fn()
  } catch (error) {
    return error as never
  }
  throw new Error('nothing was thrown')
}

/** Returns the first choice's delta. */
export function deltaOf(frame: { choices: JsonObject[] }): JsonObject {
  return (frame.choices[0]?.delta ?? {}) as JsonObject
}

export interface WireCall {
  index: number
  id?: string
  type?: string
  function: { name?: string; arguments: string }
}

export function callsOf(owner: object | undefined): WireCall[] {
  return (owner as { tool_calls?: WireCall[] } | undefined)?.tool_calls ?? []
}
