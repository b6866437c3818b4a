// Encodes canonical instructions and turns as messages[] of a chat upstream. Each result is one message directly after its call. Media in
// results moves to one user message after all of them.
import { GatewayError } from '../../../../core/errors/gateway-error.ts'
import type {
  CanonicalRequest,
  Frozen,
  Json,
  JsonObject,
  Message,
  Part,
  ToolResultPart,
} from '../../../../core/types/request/canonical.ts'
import type { CodecContext } from '../../../../core/types/request/dialect.ts'
import { historyField } from '../../shared/history-field.ts'
import { isObject } from '../read.ts'
import { wireCallId } from '../tool-names.ts'
import { acceptsPartArrays, cacheFields } from './cache-marks.ts'
import { encodeAssistant } from './encode-assistant.ts'
import { isMedia, PART_SEPARATOR, textContent, userContent } from './encode-content.ts'

type Request = Frozen<CanonicalRequest>
type AnyMessage = Frozen<Message>
type AnyPart = Frozen<Part>
type Result = Frozen<ToolResultPart> & AnyPart

export function encodeMessages(request: Request, codec: CodecContext): JsonObject[] {
  const own = request.source === 'chat'
  const out = instructions(request, codec)
  const { messages } = request
  for (let at = 0; at < messages.length; ) {
    const message = messages[at] as AnyMessage
    if (message.role !== 'assistant') {
      encodePlain(message, [], own, codec, out)
      at++
      continue
    }
    let end = at + 1
    // Other dialects split one turn into several items; chat needs one message.
    while (!own && messages[end]?.role === 'assistant') end++
    const turn = messages.slice(at, end)
    const wire = encodeAssistant(turn, own, codec)
    if (wire !== null) out.push(wire)
    at = wire?.tool_calls === undefined ? end : encodeResults(turn, messages, end, own, codec, out)
  }
  if (out.length === 0)
    throw GatewayError.unsupported(historyField(codec.caller), 'No part of the conversation can be sent to this target.')
  return out
}

function instructions(request: Request, codec: CodecContext): JsonObject[] {
  const blocks = request.system
  const keepParts = acceptsPartArrays(codec)
  // Anthropic's system is one text in blocks; some templates accept only one system message.
  if (blocks.length > 0 && (request.source === 'messages' || codec.quirks.systemFirstOnly)) {
    const content = textContent(
      blocks.length === 1 ? (blocks[0] as (typeof blocks)[number]).parts : blocks.flatMap((block) => block.parts),
      keepParts,
      '\n\n',
      codec,
    )
    return content.length === 0 ? [] : [{ role: instructionRole(codec), content }]
  }
  return blocks.flatMap((block) => {
    const content = textContent(block.parts, keepParts, PART_SEPARATOR, codec)
    if (content.length === 0) return []
    return [{ role: instructionRole(codec), content, ...(block.name === undefined ? {} : { name: block.name }) }]
  })
}

function instructionRole(codec: CodecContext): 'developer' | 'system' {
  return (codec.quirks.developerRole ?? codec.caps.developerRole) === true ? 'developer' : 'system'
}

// A tool result becomes the text of a tool message, or user text when its call is missing.
type ToolResult = Frozen<ToolResultPart> & Frozen<Part>

/** Never empty, because some upstreams refuse empty tool messages. */
function resultContent(result: ToolResult, codec: CodecContext): string | JsonObject[] {
  const plain = !result.isError && !result.parts.some(isMedia)
  const content = textContent(result.parts, plain && acceptsPartArrays(codec), PART_SEPARATOR, codec)
  if (typeof content !== 'string') return content
  const text = resultText(result, content)
  const marks = cacheFields(result.cache, codec)
  return Object.keys(marks).length === 0 ? text : [{ type: 'text', text, ...marks }]
}

/** Returns the parts that replace a result without its call; none for an empty result. */
function orphanText(result: ToolResult): Frozen<Part>[] {
  const text = result.parts.map((part) => (part.t === 'text' ? part.text : '')).join(PART_SEPARATOR) || jsonText(result)
  const media = result.parts.filter(isMedia)
  return text === '' ? media : [{ t: 'text', text: `Tool result: ${text}` }, ...media]
}

function resultText(result: ToolResult, content: string): string {
  const lines = [content === '' ? jsonText(result) : content, ...result.parts.filter(isMedia).map(placeholder)]
  const text = lines.filter((line) => line !== '').join(PART_SEPARATOR)
  if (text === '') return result.isError ? 'Error: (no output)' : '(no output)'
  return result.isError && !/^\s*error/i.test(text) ? `Error: ${text}` : text
}

function placeholder(part: Frozen<Part>): string {
  return `(${part.t} attached in the next message)`
}

/** In a generate-content response object without parts, `{output: x}` is equivalent to x. */
function jsonText(result: ToolResult): string {
  const { json } = result
  if (json === undefined || json === null) return ''
  const value =
    isObject(json) && Object.keys(json).length === 1 ? ((json.output ?? json.result ?? json.error ?? json) as Frozen<Json>) : json
  return typeof value === 'string' ? value : JSON.stringify(value)
}

/** `lead`: media of tool results, which comes before the content of a user message. */
function encodePlain(message: AnyMessage, lead: readonly AnyPart[], own: boolean, codec: CodecContext, out: JsonObject[]): void {
  if (message.role === 'system' || message.role === 'developer') {
    encodeMidInstruction(message, codec, out)
    return
  }
  // A result whose call is not in the history becomes user text.
  const parts = message.parts.some(({ t }) => t === 'tool_result')
    ? message.parts.flatMap((part) => (part.t === 'tool_result' ? orphanText(part) : [part]))
    : message.parts
  const content = userContent(lead.length === 0 ? parts : [...lead, ...parts], own, codec)
  if (content === null) return
  const name = message.role === 'user' ? message.name : undefined
  const ext = message.role === 'user' ? ((message.ext?.chat ?? {}) as JsonObject) : {}
  out.push({ role: 'user', content, ...(name === undefined ? {} : { name }), ...ext })
}

function encodeMidInstruction(message: AnyMessage, codec: CodecContext, out: JsonObject[]): void {
  const content = textContent(message.parts, acceptsPartArrays(codec), PART_SEPARATOR, codec)
  if (content.length === 0) return
  if (codec.quirks.systemFirstOnly) {
    const text = typeof content === 'string' ? content : content.map((part) => part.text as string).join(PART_SEPARATOR)
    out.push({ role: 'user', content: `<system-reminder>\n${text}\n</system-reminder>` })
  } else out.push({ role: instructionRole(codec), content, ...(message.name === undefined ? {} : { name: message.name }) })
}

/** Encodes everything up to the next assistant turn: results first, then the messages that were between them. */
function encodeResults(
  turn: readonly AnyMessage[],
  messages: readonly AnyMessage[],
  from: number,
  own: boolean,
  codec: CodecContext,
  out: JsonObject[],
): number {
  const calls = turn.flatMap((message) => message.parts).filter((part) => part.t === 'tool_call')
  const ids = new Set(calls.map((call) => call.id))
  const results = new Map<string, Result>()
  const rest: AnyMessage[] = []
  let end = from
  for (; end < messages.length && messages[end]?.role !== 'assistant'; end++) {
    const message = messages[end] as AnyMessage
    const left: AnyPart[] = []
    for (const part of message.parts) {
      if (part.t === 'tool_result' && ids.has(part.callId)) results.set(part.callId, part)
      else left.push(part)
    }
    if (left.length > 0) rest.push({ ...message, parts: left })
  }

  for (const [callId, result] of results)
    out.push({ role: 'tool', tool_call_id: wireCallId(callId, codec), content: resultContent(result, codec) })
  for (const { id } of calls) {
    if (results.has(id)) continue
    codec.warn('missing_tool_result')
    out.push({ role: 'tool', tool_call_id: wireCallId(id, codec), content: 'No result provided' })
  }
  encodeRest(
    rest,
    [...results.values()].flatMap((result) => result.parts.filter(isMedia)),
    own,
    codec,
    out,
  )
  return end
}

function encodeRest(
  rest: readonly AnyMessage[],
  media: readonly AnyPart[],
  own: boolean,
  codec: CodecContext,
  out: JsonObject[],
): void {
  const joins = media.length > 0 && rest[0]?.role === 'user'
  if (media.length > 0 && !joins) out.push({ role: 'user', content: userContent(media, own, codec) })
  rest.forEach((message, index) => {
    encodePlain(message, joins && index === 0 ? media : [], own, codec, out)
  })
}
