// Shared by the tests of this dialect, in addition to test/support/dialects.ts: its codec, its frames, the official SDKs.
import { createOpenAI } from '@ai-sdk/openai'
import OpenAI from 'openai'
import { responsesDialect as driver } from '../../../../adapters/dialects/responses/index.ts'
import { headerBag } from '../../../../core/http/headers.ts'
import { wireBody } from '../../../../core/json/wire-body.ts'
import type { CanonicalResponse } from '../../../../core/types/request/answer.ts'
import type { CanonicalRequest, Part } from '../../../../core/types/request/canonical.ts'
import type { CodecContext } from '../../../../core/types/request/dialect.ts'
import type { StreamEvent } from '../../../../core/types/request/stream.ts'
import {
  canonicalRequest,
  freeze,
  streamEvents,
  streamText,
  type TestHop,
  textPart,
  warningCodec,
} from '../../../support/dialects.ts'

export { assistant, freeze, type TestHop, toolCall as call, user } from '../../../support/dialects.ts'
export { driver }

// biome-ignore lint/suspicious/noExplicitAny: wire objects are looked into freely
export type Wire = any

export function codec(overrides: Partial<CodecContext> = {}): TestHop {
  const facts = { provider: 'openai', model: 'gpt-5.6', caps: { family: 'gpt' }, now: () => 1_795_000_000_000 }
  return warningCodec(driver, { ...facts, ...overrides })
}

export function request(overrides: Partial<CanonicalRequest> = {}): CanonicalRequest {
  return canonicalRequest({ model: 'openai/gpt-5.6', source: 'chat', ...overrides })
}

export function result(callId: string, ...parts: (string | Part)[]): Part {
  return { t: 'tool_result', callId, parts: parts.map(textPart) }
}
export function decode(body: object | string, headers: string[] = []): CanonicalRequest {
  const wire = wireBody(typeof body === 'string' ? body : JSON.stringify(body))
  return freeze(driver.decodeRequest(wire, headerBag(headers), { operation: 'chat' })) as CanonicalRequest
}

/** Returns the body for a responses upstream. */
export function encode(from: CanonicalRequest, at: CodecContext = codec()): Wire {
  return driver.encodeRequest(freeze(from), at).body.json()
}

/** Returns a whole answer for the caller. */
export function encoded(from: CanonicalResponse, at: CodecContext = codec()): Wire {
  return JSON.parse(driver.encodeResponse(freeze(from), at))
}

/** Returns the decoded form of an upstream's whole answer. */
export function decoded(body: object, at: CodecContext = codec()): CanonicalResponse {
  return driver.decodeResponse(wireBody(JSON.stringify(body)), at)
}

export function decodeText(
  text: string | Uint8Array,
  at: CodecContext = codec(),
  split = Number.POSITIVE_INFINITY,
): StreamEvent[] {
  return streamEvents(driver, text, at, (bytes) => {
    const out: Uint8Array[] = []
    for (let i = 0; i < bytes.length; i += split) out.push(bytes.slice(i, Math.min(bytes.length, i + split)))
    return out
  })
}

export function encodeEvents(events: readonly StreamEvent[], at: CodecContext = codec()): string {
  return streamText(driver, events, at)
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
