// Thoughts put back into the wire body of a chat upstream, in the field it reads them from.
import type { Frozen, Json, JsonObject, ReasoningPart } from '../../core/types/canonical.ts'
import type { CodecContext, WireBody } from '../../core/types/dialect.ts'
import type { KeyOf } from './scope.ts'
import type { Find, Wanted } from './thoughts.ts'

/** The turns that called a tool and come without their thoughts. */
export function wantedInChat(body: WireBody, keyOf: KeyOf): Wanted[] {
  if (!body.contains('messages', '"tool_calls"')) return []
  const messages = body.get('messages')
  if (!Array.isArray(messages)) return []
  return messages.flatMap((message, index) => {
    if (!isObject(message) || message.role !== 'assistant' || FIELDS.some((name) => isSaid(message[name]))) return []
    const key = firstCall(message.tool_calls, keyOf)
    return key === null ? [] : [{ index, key }]
  })
}

export function replayInChat(body: WireBody, codec: CodecContext, wanted: readonly Wanted[], find: Find): void {
  const field = codec.quirks.replayReasoning ?? 'reasoning_content'
  for (const { index, key } of wanted) {
    const text = textOf(find(key) ?? [])
    if (text !== '') body.set(`messages.${index}.${field}`, text)
  }
}

const FIELDS = ['reasoning_content', 'reasoning', 'reasoning_details']

function isSaid(value: Json | undefined): boolean {
  return value !== undefined && value !== null && value !== '' && !(Array.isArray(value) && value.length === 0)
}

function firstCall(calls: Json | undefined, keyOf: KeyOf): string | null {
  const call = Array.isArray(calls) ? calls[0] : undefined
  if (!isObject(call) || typeof call.id !== 'string' || !isObject(call.function)) return null
  const { arguments: args } = call.function
  return typeof args === 'string' ? keyOf(call.id, args) : null
}

function textOf(parts: readonly Frozen<ReasoningPart>[]): string {
  return parts
    .map(({ text, summary }) => text || (summary ?? []).join('\n\n'))
    .filter((text) => text !== '')
    .join('\n\n')
}

function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
