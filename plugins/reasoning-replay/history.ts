// Restores thoughts in the history of a request: for chat upstreams in the field that they read, for messages upstreams as their own
// signed blocks.
import { bringsSecret, signatureFits } from '../../core/models/signature.ts'
import type { CanonicalRequest, Frozen, Json, JsonObject, Message, ReasoningPart } from '../../core/types/request/canonical.ts'
import type { CodecContext, WireBody } from '../../core/types/request/dialect.ts'
import type { KeyOf } from './scope.ts'
import type { Find, Wanted } from './thoughts.ts'

/** Returns the turns that called a tool and have no thoughts. */
export function wantedInChat(body: WireBody, keyOf: KeyOf): Wanted[] {
  if (!body.mayName('tool_calls') || !body.contains('messages', '"tool_calls"')) return []
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

/** Returns the turns that called a tool and have no thoughts. For a messages upstream a thought without its secret does not count. */
export function wantedInMessages({ messages }: Frozen<CanonicalRequest>, keyOf: KeyOf): Wanted[] {
  return messages.flatMap(({ role, parts }, index) => {
    if (role !== 'assistant' || parts.some(bringsSecret)) return []
    const call = parts.find((part) => part.t === 'tool_call')
    return call === undefined ? [] : [{ index, key: keyOf(call.id, call.args) }]
  })
}

/** Returns null when nothing is restored. */
export function replayInMessages(
  { messages }: Frozen<CanonicalRequest>,
  codec: CodecContext,
  wanted: readonly Wanted[],
  find: Find,
): Message[] | null {
  const replayed = [...messages] as Message[]
  let found = false
  for (const { index, key } of wanted) {
    const thoughts = find(key)
    if (!thoughts?.every((part) => part.redacted !== undefined || signatureFits(part.signature, 'messages', codec.caps.family)))
      continue
    found = true
    const message = replayed[index] as Message
    replayed[index] = { ...message, parts: [...thoughts, ...message.parts] }
  }
  return found ? replayed : null
}
