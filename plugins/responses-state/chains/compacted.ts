// Cuts stored conversations at their latest compaction item, which holds the content of the earlier items.
import type { Frozen, JsonObject, Message, Part } from '../../../core/types/request/canonical.ts'
import type { Turn } from '../turn.ts'

type Item = Frozen<JsonObject>
/** Returns whether every upstream can get the content of a compaction item. */
export type IsOwn = (item: Item) => boolean

const COMPACTIONS: ReadonlySet<unknown> = new Set(['compaction', 'compaction_summary'])

export function isCompaction({ type }: Item): boolean {
  return COMPACTIONS.has(type)
}

/** Returns the turns from the latest compaction item on. Items of a vendor do not count: another upstream cannot read them. */
export function sinceCompaction(turns: readonly Turn[], isOwn: IsOwn): readonly Turn[] {
  for (let at = turns.length - 1; at >= 0; at--) {
    const turn = turns[at] as Turn
    const place = turn.output.findLastIndex((item) => isCompaction(item) && isOwn(item))
    if (place !== -1) return [{ ...turn, messages: [], output: turn.output.slice(place) }, ...turns.slice(at + 1)]
    if (turn.begins === true) return turns.slice(at)
  }
  return turns
}

/** The same for the items of a conversation. The messages of the user that a shorter form keeps stand right before its item. */
export function itemsSinceCompaction(
  items: readonly JsonObject[],
  isOwn: IsOwn,
  isOutput: (id: string) => boolean,
): JsonObject[] {
  const place = items.findLastIndex((item) => isCompaction(item) && isOwn(item))
  let from = Math.max(place, 0)
  if (place !== -1 && !isOutput(String(items[place]?.id))) while (from > 0 && isKept(items[from - 1] as Item)) from--
  return items.slice(from)
}

/** Returns stored messages without requests to compact, and without items that only their vendor can read. */
export function readable(messages: readonly Message[], isOwn: IsOwn): Message[] {
  const isLeft = (part: Part): boolean => {
    if (part.t !== 'opaque' || part.dialect !== 'responses') return true
    const item = part.raw as Item
    return item.type !== 'compaction_trigger' && (!isCompaction(item) || isOwn(item))
  }
  return messages.flatMap((message) => {
    if (message.parts.every(isLeft)) return [message]
    const parts = message.parts.filter(isLeft)
    return parts.length === 0 ? [] : [{ ...message, parts }]
  })
}

/** Returns whether the input has a compaction item. */
export function hasCompaction(messages: readonly Frozen<Message>[], referenced: Iterable<Item>): boolean {
  for (const item of referenced) if (isCompaction(item)) return true
  return messages.some(({ parts }) =>
    parts.some((part) => part.t === 'opaque' && part.dialect === 'responses' && isCompaction(part.raw as Item)),
  )
}

function isKept({ type = 'message', role }: Item): boolean {
  return type === 'message' && role !== 'assistant'
}
