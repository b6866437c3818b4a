// Puts stored turns into a request: the whole conversation before its own input, and the items that references name.
import { byteLength } from '../../../core/text/bytes.ts'
import type { CanonicalRequest, Frozen, JsonObject, Message, Part, SystemBlock } from '../../../core/types/request/canonical.ts'
import type { CompactionItems } from '../../../core/types/request/compaction-items.ts'
import type { RequestContext } from '../../../core/types/request/context.ts'
import type { ResponseItems } from '../../../core/types/request/response-items.ts'
import type { Ids } from '../ids.ts'
import type { Turn } from '../turn.ts'
import { type IsOwn, readable } from './compacted.ts'

export type ChatContext = RequestContext<'chat' | 'count_tokens'>

/** Returns the id of an `item_reference` of ours; null: the part is none. */
export function referenceIn(part: Frozen<Part>, ids: Ids): string | null {
  if (part.t !== 'opaque' || part.dialect !== 'responses') return null
  const { type, id } = part.raw as { readonly type?: unknown; readonly id?: unknown }
  if ((type !== undefined && type !== null && type !== 'item_reference') || typeof id !== 'string') return null
  return ids.isOurs(id) ? id : null
}

/** The messages of the request's own turn: its input without `instructions`, which later turns do not inherit. */
export function ownMessages({ system, messages }: Frozen<CanonicalRequest>): Message[] {
  const leading = system.filter((block) => !isInstructions(block)).map(({ role, parts }) => ({ role, parts: [...parts] }))
  return [...leading, ...messages] as Message[]
}

export function isInstructions({ parts }: Frozen<SystemBlock>): boolean {
  return parts.some((part) => part.t === 'text' && part.ext?.responses?.instructions === true)
}

/** Leading instructions of the conversation stand where a request without stored turns has them, so that prompts keep their beginning. */
export function placeMessages(edited: CanonicalRequest, messages: readonly Message[]): void {
  const first = messages.findIndex(({ role }) => role !== 'system' && role !== 'developer')
  const leading = messages.slice(0, first === -1 ? messages.length : first)
  const blocks = leading.map(({ role, parts }) => ({ role, parts }) as SystemBlock)
  edited.system = [...edited.system.filter(isInstructions), ...blocks]
  edited.messages = withNames(messages.slice(leading.length))
}

/** Returns items as another upstream can read them: without ids, and without thoughts that only its own upstream can open. */
export function portable(items: readonly JsonObject[], isNative: boolean): JsonObject[] {
  return items.flatMap((item) => {
    if (isNative && item.type === 'reasoning') return []
    const { id: _, ...rest } = item
    return [rest]
  })
}

/** Thoughts in the gateway's envelope name the model that can open them. Others belong to one account. */
export function isOpen({ type, encrypted_content: secret }: JsonObject): boolean {
  return type !== 'reasoning' || (typeof secret === 'string' && secret.startsWith('gw1.'))
}

/** Messages of a stored turn. */
export interface ReadTurn {
  readonly messages: readonly Message[]
  /** UTF-8 bytes of their JSON. */
  readonly bytes: number
}

/** Returns a function that reads the messages of a turn. A turn that is held in memory is read once. */
export function turnReader(
  items: ResponseItems,
  compactions: () => CompactionItems | undefined,
): (turn: Turn, orgId: number | null) => ReadTurn | Promise<ReadTurn> {
  const known = new WeakMap<Turn, ReadTurn>()
  const isOwn: IsOwn = (item) => compactions()?.isOwn(item) === true
  const read = async (turn: Turn, orgId: number | null): Promise<ReadTurn> => {
    const all = [...turn.messages, ...items.read(portable(turn.output, turn.native !== undefined))]
    const sealed = readable(all, isOwn)
    const messages = (await compactions()?.open(sealed, orgId)) ?? sealed
    const one = { messages, bytes: byteLength(JSON.stringify(messages)) }
    known.set(turn, one)
    return one
  }
  return (turn, orgId) => known.get(turn) ?? read(turn, orgId)
}

/** Puts items in the place of references. Neighbours are read together: a signature belongs to the call that follows it. */
export function withItems(
  messages: readonly Message[],
  found: ReadonlyMap<string, JsonObject>,
  ids: Ids,
  items: ResponseItems,
): Message[] {
  if (found.size === 0) return [...messages]
  return messages.map((message) => {
    if (!message.parts.some((part) => referenceIn(part, ids) !== null)) return message
    const parts: Part[] = []
    let run: JsonObject[] = []
    const flush = (): void => {
      for (const one of items.read(run)) parts.push(...one.parts)
      run = []
    }
    for (const part of message.parts) {
      const item = found.get(referenceIn(part, ids) ?? '')
      if (item !== undefined) run.push(item)
      else {
        flush()
        parts.push(part)
      }
    }
    flush()
    return { ...message, parts }
  })
}

/** Tool results of the new turn get the names of calls in stored ones, because some upstreams need them. */
function withNames(messages: readonly Message[]): Message[] {
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
