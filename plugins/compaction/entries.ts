// The steps of a conversation as a digest reads them, from items of the responses dialect and from canonical messages. Reasoning is left
// out: it is of no use to another model.
import type { Frozen, Json, JsonObject, Message, Part } from '../../core/types/request/canonical.ts'

export type Entry =
  | { kind: 'user' | 'assistant' | 'earlier'; text: string }
  | { kind: 'call'; id: string; name: string; args: string }
  | { kind: 'result'; callId: string; text: string }

/** The first line of a digest that the gateway wrote into a conversation. */
export const DIGEST_HEADING = 'Earlier part of this conversation, compacted:'

type Item = Frozen<JsonObject>

export function typeOf(item: Item): string {
  return typeof item.type === 'string' ? item.type : 'message'
}

/** Returns true for messages that a compaction keeps: those of the user, and instructions. */
export function isKept(item: Item): boolean {
  return typeOf(item) === 'message' && item.role !== 'assistant' && digestIn(item) === null
}

/** Returns the text of an earlier digest; null for any other item. */
export function digestIn(item: Item): string | null {
  if (typeOf(item) !== 'message' || item.role !== 'developer') return null
  const text = textIn(item.content)
  return text.startsWith(DIGEST_HEADING) ? text.slice(DIGEST_HEADING.length).trim() : null
}

/** Returns null for reasoning, and for items without text. */
export function entryOf(item: Item): Entry | null {
  const type = typeOf(item)
  if (type === 'message') {
    const earlier = digestIn(item)
    if (earlier !== null) return { kind: 'earlier', text: earlier }
    const text = textIn(item.content)
    return text === '' ? null : { kind: item.role === 'assistant' ? 'assistant' : 'user', text }
  }
  if (type === 'reasoning' || OWN_STATE.has(type)) return null
  const id = callIdOf(item)
  if (type.endsWith('_output')) return { kind: 'result', callId: id, text: textIn(item.output) }
  const name = typeof item.name === 'string' ? item.name : type
  return { kind: 'call', id, name, args: textIn(item.arguments ?? item.input ?? item.action) }
}

/** Items that hold state of a vendor or of a client, and no text. */
const OWN_STATE: ReadonlySet<string> = new Set([
  'item_reference',
  'compaction',
  'compaction_summary',
  'compaction_trigger',
  'additional_tools',
  'ghost_snapshot',
])

/** Returns true for a compaction item of a vendor: those of the gateway were read back before. */
export function isForeign({ type }: Item): boolean {
  return type === 'compaction' || type === 'compaction_summary'
}

export function callIdOf(item: Item): string {
  return typeof item.call_id === 'string' ? item.call_id : ''
}

function textIn(value: Frozen<Json> | undefined): string {
  if (typeof value === 'string') return value
  if (value === undefined || value === null) return ''
  if (!Array.isArray(value)) return JSON.stringify(value)
  return value
    .map((part: Frozen<Json>) => {
      if (typeof part === 'string') return part
      const { text, refusal, type } = (part ?? {}) as Item
      return typeof text === 'string'
        ? text
        : typeof refusal === 'string'
          ? refusal
          : `[${typeof type === 'string' ? type : 'part'}]`
    })
    .join('\n')
}

/** Returns the steps of canonical messages. `users`: also the messages of the user. */
export function entriesOf(messages: readonly Frozen<Pick<Message, 'role' | 'parts'>>[], users: boolean): Entry[] {
  return messages.flatMap(({ role, parts }) => {
    if (role === 'developer' || role === 'system') {
      const text = textOf(parts)
      return text.startsWith(DIGEST_HEADING) ? [{ kind: 'earlier', text: text.slice(DIGEST_HEADING.length).trim() } as const] : []
    }
    if (role !== 'user') return parts.flatMap(entryOfPart)
    const own = parts.filter((part) => part.t !== 'tool_result')
    const results = parts.filter((part) => part.t === 'tool_result').flatMap(entryOfPart)
    return users && own.length > 0 ? [...results, { kind: 'user', text: textOf(own) }] : results
  })
}

function entryOfPart(part: Frozen<Part>): Entry[] {
  if (part.t === 'text' || part.t === 'refusal') return part.text === '' ? [] : [{ kind: 'assistant', text: part.text }]
  if (part.t === 'tool_call') return [{ kind: 'call', id: part.id, name: part.name, args: part.args }]
  if (part.t === 'tool_result') return [{ kind: 'result', callId: part.callId, text: textOf(part.parts) }]
  return part.t === 'server_tool' ? [{ kind: 'call', id: '', name: part.kind, args: '' }] : []
}

export function textOf(parts: readonly Frozen<Part>[]): string {
  return parts.map((part) => ('text' in part && typeof part.text === 'string' ? part.text : `[${part.t}]`)).join('\n')
}
