// Sends an answer with foreign thoughts to a generate-content client and back: the client's form, the form it sends back, and the request
// for an upstream.
import { expect } from 'vitest'
import { unwrapSignature } from '../../../../core/models/signature.ts'
import { PartWriter } from '../../../../core/stream/part-writer.ts'
import type { Dialect, JsonObject, Message, Part, Signature } from '../../../../core/types/request/canonical.ts'
import type { StreamEvent } from '../../../../core/types/request/stream.ts'
import { canonicalRequest, DRIVERS, warningCodec } from '../../../support/dialects.ts'
import { codec, decode, driver, encodeEvents, freeze, items, toolResult, user } from './support.ts'

const FAMILY: Readonly<Record<Dialect, string>> = {
  messages: 'claude',
  responses: 'gpt',
  chat: 'router',
  generate_content: 'gemini',
}

export const secret = (value: string, dialect: Dialect = 'messages'): Signature => ({
  dialect,
  modelFamily: FAMILY[dialect],
  value,
})
export const thought = (text: string, value: string): Part => ({ t: 'reasoning', text, signature: secret(value) })
export const redacted = (value: string): Part => ({ t: 'reasoning', text: '', redacted: value, encrypted: secret(value) })
export const summarized = (value: string, ...summary: string[]): Part => ({
  t: 'reasoning',
  text: '',
  summary,
  signature: secret(value, 'responses'),
})
export const detailed = (text: string, ...reasoning_details: JsonObject[]): Part => ({
  t: 'reasoning',
  text,
  ext: { chat: { reasoning_details } },
})
export const unsigned = (text: string): Part => ({ t: 'reasoning', text })
export const said = (text: string): Part => ({ t: 'text', text })

/** Returns the parts that a generate-content client gets for this answer, whole. */
export function whole(parts: readonly Part[]): JsonObject[] {
  const usage = { inputTotal: 1, cacheRead: 0, cacheWrite: 0, outputTotal: 1, total: 2, estimated: false, raw: null }
  const choices = [{ index: 0, parts: [...parts], finish: 'tool_calls' as const, nativeFinish: '' }]
  const response = freeze({ id: 'x', created: 1, model: 'm', choices, usage, ext: {} })
  const { candidates } = JSON.parse(driver.encodeResponse(response, codec({ caller: 'generate_content', upstream: 'messages' })))
  return candidates[0].content.parts
}

/** The same, as the parts of all chunks. */
export function streamed(parts: readonly Part[]): JsonObject[] {
  const events: StreamEvent[] = [{ e: 'start', id: 'x', model: 'm', created: 1 }]
  const writer = new PartWriter()
  const emit = (event: StreamEvent): void => void events.push(structuredClone(event))
  for (const [key, part] of parts.entries()) writePart(writer, key, part, emit)
  writer.closeAll(0, emit)
  events.push({ e: 'finish', choice: 0, finish: 'tool_calls', native: '' }, { e: 'end' })
  return items(encodeEvents(events)).flatMap(
    ({ candidates }) => (candidates as { content: { parts: JsonObject[] } }[])[0]?.content.parts ?? [],
  )
}

function writePart(writer: PartWriter, key: number, part: Part, emit: (event: StreamEvent) => void): void {
  if (part.t === 'tool_call') {
    const { t: _t, args, ...meta } = part
    writer.toolStart(0, key, meta, emit)
    writer.toolArgs(0, key, args, emit)
    return writer.toolStop(0, key, emit)
  }
  if (part.t === 'text') {
    for (const piece of part.text.split(/(?<= )/)) writer.text(0, piece, emit)
  } else if (part.t === 'reasoning' && part.redacted !== undefined) return writer.whole(0, 'redacted', part, emit)
  else if (part.t === 'reasoning') {
    for (const piece of part.text.split(/(?<= )/)) writer.reasoning(0, piece, emit)
    for (const [index, line] of (part.summary ?? []).entries()) writer.summary(0, line, index, emit)
    if (part.signature !== undefined) writer.signature(0, part.signature, emit)
    if (part.ext !== undefined) writer.thought(0, emit).ext = part.ext
  }
  writer.closeCurrent(0, emit)
}

export const dropped = (parts: readonly JsonObject[]): JsonObject[] => parts.filter((part) => part.thought !== true)
export const kept = (parts: readonly JsonObject[]): JsonObject[] => [...parts]
export const carriersOf = (parts: readonly JsonObject[]): unknown[] =>
  parts.filter((part) => part.functionCall !== undefined).map((part) => part.thoughtSignature)
export const listOf = (carrier: unknown): string => unwrapSignature((carrier ?? '') as string)?.value ?? ''

/** Returns the decoded turn that the client sends back, as one content or as many. */
export function back(parts: readonly JsonObject[], asMany = false): Part[] {
  const contents = asMany ? parts.map((part) => ({ role: 'model', parts: [part] })) : [{ role: 'model', parts }]
  const { messages } = decode({ contents: [{ role: 'user', parts: [{ text: 'go' }] }, ...contents] })
  expect(messages.length).toBeLessThanOrEqual(2)
  return messages[1]?.parts ?? []
}

/** Returns the assistant turn of the request for an upstream of this dialect. */
export function sentTo(upstream: 'messages' | 'responses' | 'chat', parts: Part[]): unknown[] {
  const on = warningCodec(DRIVERS[upstream], {
    ...{ caller: 'generate_content', upstream, model: 'm', provider: 'custom', caps: { family: FAMILY[upstream] } },
    ...{ quirks: upstream === 'chat' ? { replayReasoning: 'reasoning' } : {} },
  })
  const calls = parts.filter((part) => part.t === 'tool_call')
  const messages: Message[] = [user('go'), { role: 'assistant', parts }, ...calls.map(({ id }) => toolResult(id, 'ok'))]
  const canonical = canonicalRequest({ model: 'm', source: 'generate_content', messages })
  const body = DRIVERS[upstream].encodeRequest(freeze(canonical), on).body.json() as JsonObject
  if (upstream === 'responses')
    return (body.input as JsonObject[]).filter(({ role, type }) => type === 'reasoning' || role !== 'user')
  const turns = (body.messages as JsonObject[]).filter(({ role }) => role === 'assistant')
  return upstream === 'chat' ? turns : turns.flatMap(({ content }) => content as unknown[])
}

export const TELLINGS = [
  ['whole', whole],
  ['streamed', streamed],
] as const
const CLIENTS = [
  ['dropped', dropped],
  ['kept', kept],
] as const
export const WAYS = TELLINGS.flatMap(([told, tell]) => CLIENTS.map(([what, client]) => [told, what, tell, client] as const))
