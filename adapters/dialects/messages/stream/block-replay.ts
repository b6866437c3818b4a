// Handles an upstream that restarts its message inside one stream. Blocks from before the second message_start are repetitions, and
// content that the caller already has is left out.
import type { JsonObject } from '../../../../core/types/request/canonical.ts'
import { isObject, loose } from '../../shared/fields.ts'

/** Members of deltas that carry a block's content. */
const CONTENT = ['text', 'thinking', 'partial_json', 'content'] as const

interface Seen {
  /** Type and tool name: a block of another kind at the same index is new. */
  kind: string
  open: boolean
  /** Characters that were forwarded. */
  length: number
  /** Characters of the repetition that are still left out. */
  skip: number
  repeated: boolean
}

export class BlockReplay {
  readonly #seen = new Map<number, Seen>()
  #restarted = false

  /** Call it for every message_start except the first. */
  restart(): void {
    this.#restarted = true
    for (const block of this.#seen.values()) block.repeated = true
  }

  /** Returns the event itself, a copy without the repeated content, or null for an event without new content. */
  event(event: JsonObject): JsonObject | null {
    const index = typeof event.index === 'number' ? event.index : 0
    const block = this.#seen.get(index)
    if (event.type === 'content_block_start') return this.#start(index, block, event)
    if (block === undefined) return event
    if (event.type === 'content_block_delta') return this.#delta(block, event)
    const { open } = block
    block.open = false
    return open || !this.#restarted ? event : null
  }

  #start(index: number, block: Seen | undefined, event: JsonObject): JsonObject | null {
    const content = isObject(event.content_block) ? event.content_block : {}
    const kind = `${loose(content.type)} ${loose(content.name)}`
    if (block?.repeated && block.kind === kind) {
      block.skip = block.length
      block.repeated = false
      return null
    }
    this.#seen.set(index, { kind, open: true, length: 0, skip: 0, repeated: false })
    return event
  }

  #delta(block: Seen, event: JsonObject): JsonObject | null {
    if (this.#restarted && !block.open) return null
    const delta = isObject(event.delta) ? event.delta : {}
    const member = CONTENT.find((name) => typeof delta[name] === 'string')
    if (member === undefined) return event
    const text = loose(delta[member])
    const fresh = text.slice(block.skip)
    block.skip -= text.length - fresh.length
    block.length += fresh.length
    if (fresh.length === text.length) return event
    return fresh === '' ? null : { ...event, delta: { ...delta, [member]: fresh } }
  }
}
