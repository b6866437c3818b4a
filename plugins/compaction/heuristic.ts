// Splits a conversation without a model: messages of the user and instructions stay, the last turns stay as they are, and the other
// steps go into the digest.
import type { Frozen, Json, JsonObject } from '../../core/types/request/canonical.ts'
import { keptText } from './digest.ts'
import { callIdOf, type Entry, entryOf, isKept, typeOf } from './entries.ts'

/** So many turns of the model stay as they are. A turn is one answer with the results of its tool calls. */
export const KEPT_TURNS = 4

type Item = Frozen<JsonObject>

export interface Split {
  /** Kept items that come before the digest. */
  before: JsonObject[]
  digested: Entry[]
  /** Kept items that come after it. */
  after: JsonObject[]
}

export function split(items: readonly Item[], keptTurns = KEPT_TURNS): Split {
  const turns = turnsOf(items)
  const last = turns.at(-1) ?? 0
  const inTail = (index: number): boolean => (turns[index] as number) > Math.max(last - keptTurns, 0)
  const tail = matched(items, (index) => inTail(index) && !isKept(items[index] as Item), turns, last)
  const first = items.findIndex((_, index) => tail.has(index))
  const found: Split = { before: [], digested: [], after: [] }
  items.forEach((item, index) => {
    const place = first === -1 || index < first ? found.before : found.after
    if (isKept(item)) place.push(shortened(item))
    else if (tail.has(index)) place.push(item as JsonObject)
    else {
      const entry = entryOf(item)
      if (entry !== null) found.digested.push(entry)
    }
  })
  return found
}

/** Returns the number of each item's turn; 0: before the first. An answer begins after a message of the user or after a result. */
function turnsOf(items: readonly Item[]): number[] {
  let turn = 0
  let answering = false
  return items.map((item) => {
    const answer = !isKept(item) && !typeOf(item).endsWith('_output')
    if (answer && !answering) turn++
    answering = answer
    return turn
  })
}

/** Returns the items of the tail without reasoning, and without calls and results whose other half is not there. */
function matched(
  items: readonly Item[],
  inTail: (index: number) => boolean,
  turns: readonly number[],
  last: number,
): ReadonlySet<number> {
  const indexes = items.map((_, index) => index).filter((index) => inTail(index) && entryOf(items[index] as Item) !== null)
  const calls = new Set<string>()
  const results = new Set<string>()
  for (const index of indexes) {
    const item = items[index] as Item
    const id = callIdOf(item)
    if (id === '') continue
    if (typeOf(item).endsWith('_output')) results.add(id)
    else calls.add(id)
  }
  return new Set(
    indexes.filter((index) => {
      const item = items[index] as Item
      const id = callIdOf(item)
      if (id === '') return !typeOf(item).endsWith('_output')
      // A call of the last turn may wait for its result.
      return typeOf(item).endsWith('_output') ? calls.has(id) : results.has(id) || turns[index] === last
    }),
  )
}

function shortened(item: Item): JsonObject {
  const { content } = item
  if (typeof content === 'string') return { ...(item as JsonObject), content: keptText(content) }
  if (!Array.isArray(content)) return item as JsonObject
  const parts = content.map((part: Frozen<Json>) => {
    const { text } = (typeof part === 'object' && part !== null ? part : {}) as Item
    return typeof text === 'string' ? { ...(part as JsonObject), text: keptText(text) } : part
  })
  return { ...(item as JsonObject), content: parts as Json[] }
}
