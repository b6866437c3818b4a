// Limits cache marks: at most four, and none with a longer life after a shorter one.
import { isObject } from '../../shared/fields.ts'
import type { Block } from '../response/block.ts'
import type { WireMessage } from './encode-turns.ts'

export interface Marked {
  tools: Block[]
  system: Block[]
  messages: WireMessage[]
  /** The top-level mark counts too. */
  automatic: boolean
}

const MOST = 4

/** Edits the encoder's own blocks; raw blocks are replaced by copies. */
export function limitCacheMarks(marked: Marked): void {
  const groups = [places(marked.tools), places(marked.system), marked.messages.flatMap(({ content }) => places(content))]
  const all = groups.flat()
  const room = MOST - (marked.automatic ? 1 : 0)
  if (all.length > room) {
    const kept = new Set(preferred(groups).slice(0, room))
    for (const place of all) if (!kept.has(place)) setMark(place, null)
  }
  let short = false
  for (const place of all) {
    const mark = (place.owner[place.key] as Block).cache_control
    if (!isObject(mark)) continue
    if (mark.ttl !== '1h') short = true
    else if (short) setMark(place, { type: 'ephemeral' })
  }
}

/** The place of a mark: member `key` of an array, or of a tool result's content. */
interface Place {
  owner: Block[]
  key: number
}

function places(list: Block[]): Place[] {
  return list.flatMap((block, key) => {
    const own = isObject(block.cache_control) ? [{ owner: list, key }] : []
    if (block.type !== 'tool_result' || !Array.isArray(block.content)) return own
    return [...places(block.content as Block[]), ...own]
  })
}

/** Sorts by value: the last tool, the last block of the system prompt, then the messages from the end, then the rest. */
function preferred([tools = [], system = [], messages = []]: Place[][]): Place[] {
  const last = [tools.at(-1), system.at(-1)].filter((place) => place !== undefined)
  const rest = [...tools.slice(0, -1), ...system.slice(0, -1)]
  return [...last, ...messages.toReversed(), ...rest.reverse()]
}

function setMark({ owner, key }: Place, mark: Block | null): void {
  const { cache_control: _, ...block } = owner[key] as Block
  owner[key] = mark === null ? block : { ...block, cache_control: mark }
}
