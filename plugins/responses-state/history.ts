// Puts stored turns into a request: the whole conversation before `previous_response_id`, and the items that references name.
import type { CanonicalRequest, Frozen, Message, Part, SystemBlock } from '../../core/types/canonical.ts'
import type { Ids, Place } from './ids.ts'
import type { Turn } from './turn.ts'

/** An `item_reference` of ours in the request's input. */
export interface Reference {
  readonly id: string
  readonly place: Place | null
}

/** Returns the id that a part refers to; null: it is no reference of ours. */
export function referenceIn(part: Frozen<Part>, ids: Ids): Reference | null {
  if (part.t !== 'opaque' || part.dialect !== 'responses') return null
  const { type, id } = part.raw as { readonly type?: unknown; readonly id?: unknown }
  if ((type !== undefined && type !== null && type !== 'item_reference') || typeof id !== 'string' || !ids.isOurs(id)) return null
  return { id, place: ids.read(id) }
}

/** The messages of the request's own turn: its input without `instructions`, which later turns do not inherit. */
export function ownMessages({ system, messages }: Frozen<CanonicalRequest>): Message[] {
  const leading = system.filter((block) => !isInstructions(block)).map(({ role, parts }) => ({ role, parts: [...parts] }))
  return [...leading, ...messages] as Message[]
}

export function isInstructions({ parts }: Frozen<SystemBlock>): boolean {
  return parts.some((part) => part.t === 'text' && part.ext?.responses?.instructions === true)
}

export function messagesOf({ messages, output }: Turn): Message[] {
  const parts = output.filter((part) => part !== null)
  return parts.length === 0 ? [...messages] : [...messages, { role: 'assistant', parts }]
}

/** Returns the parts that an id names: one part, or all texts of one message. */
export function partsAt({ output }: Turn, { kind, part: index }: Place): readonly Part[] {
  const first = output[index]
  if (first === undefined || first === null) return []
  // The signature of a call is shown as an item before it and is a part of the call.
  if (kind === 'rs' && first.t === 'tool_call') return []
  if (!isSaid(first)) return [first]
  const said: Part[] = []
  for (const part of output.slice(index)) {
    if (part === null || !isSaid(part)) break
    said.push(part)
  }
  return said
}

export function isSaid({ t }: Part): boolean {
  return t === 'text' || t === 'refusal'
}

/** Tool results of the new turn get the names of calls in stored ones, because some upstreams need them. */
export function withNames(messages: readonly Message[]): Message[] {
  const names = new Map<string, string>()
  return messages.map((message) => {
    for (const part of message.parts) if (part.t === 'tool_call') names.set(part.id, part.name)
    if (!message.parts.some((part) => part.t === 'tool_result' && part.name === undefined && names.has(part.callId)))
      return message
    const parts = message.parts.map((part): Part => {
      const name = part.t === 'tool_result' && part.name === undefined ? names.get(part.callId) : undefined
      return name === undefined ? part : ({ ...part, name } as Part)
    })
    return { ...message, parts }
  })
}
