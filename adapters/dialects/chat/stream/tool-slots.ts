// Assigns stream fragments to tool calls. Some vendors omit the index, give every parallel call index 0, repeat the name in every chunk, or
// send the id only once.
import type { JsonObject } from '../../../../core/types/request/canonical.ts'
import { isObject, text } from '../read.ts'

export interface ToolSlot {
  /** 0, 1, … in order of appearance: the correct index. */
  readonly index: number
  id: string | null
  name: string | null
  /** On the byte lane: the first fragment was sent, and one with a name. */
  announced: boolean
  named: boolean
}

export class ToolSlots {
  readonly #slots: ToolSlot[] = []
  readonly #byIndex = new Map<number, ToolSlot>()

  get size(): number {
    return this.#slots.length
  }

  /** Returns the fragment's call; a new one when it cannot belong to an earlier call. */
  resolve(call: JsonObject): ToolSlot {
    const id = text(call.id) ?? null
    const name = callName(call) ?? null
    const index = typeof call.index === 'number' ? call.index : null
    const known = id === null ? undefined : this.#slots.find((slot) => slot.id === id)
    if (known !== undefined) return known
    const current = index === null ? this.#slots.at(-1) : this.#byIndex.get(index)
    if (current === undefined || this.#isAnother(current, id, name)) return this.#open(id, name, index)
    current.id ??= id
    current.name ??= name
    return current
  }

  /** A fragment without a name continues a call, whatever its id is. */
  #isAnother(current: ToolSlot, id: string | null, name: string | null): boolean {
    if (name === null || current.name === null) return false
    if (id !== null && current.id !== null) return id !== current.id
    return name !== current.name
  }

  #open(id: string | null, name: string | null, index: number | null): ToolSlot {
    const slot: ToolSlot = { index: this.#slots.length, id, name, announced: false, named: false }
    this.#slots.push(slot)
    this.#byIndex.set(index ?? slot.index, slot)
    return slot
  }
}

export function callName(call: JsonObject): string | undefined {
  const named = isObject(call.function) ? call.function : isObject(call.custom) ? call.custom : {}
  return text(named.name)
}

export function callArgs(call: JsonObject): string {
  const value = isObject(call.function) ? call.function.arguments : isObject(call.custom) ? call.custom.input : undefined
  if (typeof value === 'string') return value
  return isObject(value) ? JSON.stringify(value) : ''
}
