// The tool results of a history, shortened: their texts, and the strings inside results that are objects. Failed calls, and
// whatever users and models said, stay as they are.
import type { Frozen, Json, Message, Part, ToolResultPart } from '../../core/types/canonical.ts'

/** null: nothing changed. */
export function withShortResults(messages: readonly Frozen<Message>[], short: (text: string) => string): Message[] | null {
  let changed = false
  const out = messages.map((message) => {
    if (!message.parts.some((part) => part.t === 'tool_result')) return message
    const parts = message.parts.map((part) => (part.t === 'tool_result' ? shortResult(part, short) : part))
    if (parts.every((part, at) => part === message.parts[at])) return message
    changed = true
    return { ...message, parts }
  })
  return changed ? (out as Message[]) : null
}

function shortResult(result: Frozen<ToolResultPart & Part>, short: (text: string) => string): Frozen<ToolResultPart & Part> {
  if (result.isError) return result
  const { json } = result
  const whole = isObject(json) ? JSON.stringify(json) : null
  let leaves: Frozen<Json> | undefined
  const parts = result.parts.map((part) => {
    if (part.t !== 'text') return part
    // A result that is an object reads as its JSON text: the output is in its members.
    if (whole !== null && part.text === whole) leaves = shortLeaves(json as Frozen<Json>, short)
    const text = leaves === undefined ? short(part.text) : JSON.stringify(leaves)
    return text === part.text ? part : { ...part, text }
  })
  if (parts.every((part, at) => part === result.parts[at])) return result
  return { ...result, parts, ...(leaves === undefined ? {} : { json: leaves }) }
}

/** As deep as bodies may be. */
function shortLeaves(value: Frozen<Json>, short: (text: string) => string): Frozen<Json> {
  if (typeof value === 'string') return short(value)
  if (Array.isArray(value)) return value.map((item: Frozen<Json>) => shortLeaves(item, short))
  if (!isObject(value)) return value
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, shortLeaves(member, short)]))
}

function isObject(value: Frozen<Json> | undefined): value is { readonly [key: string]: Frozen<Json> } {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
