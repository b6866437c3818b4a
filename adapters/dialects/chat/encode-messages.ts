// Canonical instructions and turns → messages[] of a chat upstream. Results follow their calls at once, one message each;
// media out of results travels in a user message after all of them.
import { GatewayError } from '../../../core/errors/gateway-error.ts'
import type { CanonicalRequest, Frozen, JsonObject, Message, Part, ToolResultPart } from '../../../core/types/canonical.ts'
import type { Hop } from '../../../core/types/dialect.ts'
import { historyField } from '../shared/history-field.ts'
import { acceptsPartArrays } from './cache-marks.ts'
import { encodeAssistant } from './encode-assistant.ts'
import { isMedia, PART_SEPARATOR, textContent, userContent } from './encode-content.ts'
import { orphanText, resultContent } from './encode-result.ts'
import { wireCallId } from './tool-names.ts'

type Request = Frozen<CanonicalRequest>
type AnyMessage = Frozen<Message>
type AnyPart = Frozen<Part>
type Result = Frozen<ToolResultPart> & AnyPart

export function encodeMessages(request: Request, hop: Hop): JsonObject[] {
  const own = request.source === 'chat'
  const out = instructions(request, hop)
  const { messages } = request
  for (let at = 0; at < messages.length; ) {
    const message = messages[at] as AnyMessage
    if (message.role !== 'assistant') {
      encodePlain(message, [], own, hop, out)
      at++
      continue
    }
    let end = at + 1
    // Other dialects split one turn over several items; here it is one message.
    while (!own && messages[end]?.role === 'assistant') end++
    const turn = messages.slice(at, end)
    const wire = encodeAssistant(turn, own, hop)
    if (wire !== null) out.push(wire)
    at = wire?.tool_calls === undefined ? end : encodeResults(turn, messages, end, own, hop, out)
  }
  if (out.length === 0)
    throw GatewayError.unsupported(historyField(hop.caller), 'Nothing of the conversation can be sent to this target.')
  return out
}

function instructions(request: Request, hop: Hop): JsonObject[] {
  const blocks = request.system
  const keepParts = acceptsPartArrays(hop)
  // Anthropic's system is one text in blocks; some templates take one system message only.
  if (blocks.length > 0 && (request.source === 'messages' || hop.quirks.systemFirstOnly)) {
    const content = textContent(
      blocks.flatMap((block) => block.parts),
      keepParts,
      '\n\n',
      hop,
    )
    return content.length === 0 ? [] : [{ role: instructionRole(hop), content }]
  }
  return blocks.flatMap((block) => {
    const content = textContent(block.parts, keepParts, PART_SEPARATOR, hop)
    if (content.length === 0) return []
    return [{ role: instructionRole(hop), content, ...(block.name === undefined ? {} : { name: block.name }) }]
  })
}

function instructionRole(hop: Hop): 'developer' | 'system' {
  return (hop.quirks.developerRole ?? hop.caps.developerRole) === true ? 'developer' : 'system'
}

/** `lead`: media of tool results, put before the content of a user message. */
function encodePlain(message: AnyMessage, lead: readonly AnyPart[], own: boolean, hop: Hop, out: JsonObject[]): void {
  if (message.role === 'system' || message.role === 'developer') {
    encodeMidInstruction(message, hop, out)
    return
  }
  // A result whose call is not in the history is something the user tells.
  const parts = message.parts.flatMap((part) => (part.t === 'tool_result' ? orphanText(part) : [part]))
  const content = userContent([...lead, ...parts], own, hop)
  if (content === null) return
  const name = message.role === 'user' ? message.name : undefined
  const ext = message.role === 'user' ? ((message.ext?.chat ?? {}) as JsonObject) : {}
  out.push({ role: 'user', content, ...(name === undefined ? {} : { name }), ...ext })
}

function encodeMidInstruction(message: AnyMessage, hop: Hop, out: JsonObject[]): void {
  const content = textContent(message.parts, acceptsPartArrays(hop), PART_SEPARATOR, hop)
  if (content.length === 0) return
  if (hop.quirks.systemFirstOnly) {
    const text = typeof content === 'string' ? content : content.map((part) => part.text as string).join(PART_SEPARATOR)
    out.push({ role: 'user', content: `<system-reminder>\n${text}\n</system-reminder>` })
  } else out.push({ role: instructionRole(hop), content, ...(message.name === undefined ? {} : { name: message.name }) })
}

/** Everything up to the next assistant turn: results first, whatever stood between them afterwards. */
function encodeResults(
  turn: readonly AnyMessage[],
  messages: readonly AnyMessage[],
  from: number,
  own: boolean,
  hop: Hop,
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
    out.push({ role: 'tool', tool_call_id: wireCallId(callId, hop), content: resultContent(result, hop) })
  for (const { id } of calls) {
    if (results.has(id)) continue
    hop.warn('missing_tool_result')
    out.push({ role: 'tool', tool_call_id: wireCallId(id, hop), content: 'No result provided' })
  }
  encodeRest(
    rest,
    [...results.values()].flatMap((result) => result.parts.filter(isMedia)),
    own,
    hop,
    out,
  )
  return end
}

function encodeRest(rest: readonly AnyMessage[], media: readonly AnyPart[], own: boolean, hop: Hop, out: JsonObject[]): void {
  const joins = media.length > 0 && rest[0]?.role === 'user'
  if (media.length > 0 && !joins) out.push({ role: 'user', content: userContent(media, own, hop) })
  rest.forEach((message, index) => {
    encodePlain(message, joins && index === 0 ? media : [], own, hop, out)
  })
}
