// The output of a forwarded stream so far, kept as cheaply as possible: only a stream that fails is put together from it.
import type { JsonObject } from '../../../core/types/canonical.ts'
import { isObject, loose } from './fields.ts'

interface Kept {
  item: JsonObject
  /** Data of the delta frames; dropped when the item is done. */
  deltas: string[]
}

export class PartialOutput {
  readonly #items = new Map<unknown, Kept>()
  #latest: Kept | null = null

  added(event: JsonObject): void {
    if (!isObject(event.item)) return
    this.#latest = { item: event.item, deltas: [] }
    this.#items.set(event.output_index, this.#latest)
  }

  /** Belongs to the item that was added last, unless its frame says another one when it is read. */
  delta(data: string): void {
    this.#latest?.deltas.push(data)
  }

  /** True when deltas of the item went through before. */
  done(event: JsonObject): boolean {
    const kept = this.#items.get(event.output_index)
    const streamed = (kept?.deltas.length ?? 0) > 0
    if (isObject(event.item)) this.#items.set(event.output_index, { item: event.item, deltas: [] })
    if (kept !== undefined && kept !== this.#latest) return streamed
    // Deltas of items still open may have been filed here: they move on to the next open one by their index.
    const strays = kept?.deltas.filter((data) => parse(data)?.output_index !== event.output_index) ?? []
    for (const data of strays) this.#items.get(parse(data)?.output_index)?.deltas.push(data)
    this.#latest = null
    return streamed
  }

  items(): JsonObject[] {
    const open = new Map([...this.#items].map(([index, { item }]) => [index, structuredCopy(item)]))
    for (const { deltas } of this.#items.values()) {
      for (const data of deltas) {
        const event = parse(data)
        const item = open.get(event?.output_index)
        if (event !== null && item !== undefined) apply(item, event)
      }
    }
    return [...open.values()].map((item) => (item.status === 'in_progress' ? { ...item, status: 'incomplete' } : item))
  }
}

function apply(item: JsonObject, event: JsonObject): void {
  const delta = loose(event.delta)
  switch (event.type) {
    case 'response.output_text.delta':
      return extend(item, 'content', event.content_index, 'text', delta, { type: 'output_text', text: '', annotations: [], logprobs: [] })
    case 'response.refusal.delta':
      return extend(item, 'content', event.content_index, 'refusal', delta, { type: 'refusal', refusal: '' })
    case 'response.reasoning_summary_text.delta':
      return extend(item, 'summary', event.summary_index, 'text', delta, { type: 'summary_text', text: '' })
    case 'response.reasoning_text.delta':
      return extend(item, 'content', event.content_index, 'text', delta, { type: 'reasoning_text', text: '' })
    case 'response.function_call_arguments.delta':
      item.arguments = loose(item.arguments) + delta
      return
    case 'response.custom_tool_call_input.delta':
      item.input = loose(item.input) + delta
  }
}

function extend(item: JsonObject, list: string, at: unknown, field: string, delta: string, empty: JsonObject): void {
  const entries = Array.isArray(item[list]) ? item[list] : []
  item[list] = entries
  const index = typeof at === 'number' && at <= entries.length ? at : 0
  const entry = entries[index]
  const target = isObject(entry) ? entry : empty
  target[field] = loose(target[field]) + delta
  entries[index] = target
}

function structuredCopy(item: JsonObject): JsonObject {
  return JSON.parse(JSON.stringify(item)) as JsonObject
}

function parse(data: string): JsonObject | null {
  try {
    const event: unknown = JSON.parse(data)
    return isObject(event) ? event : null
  } catch {
    return null
  }
}
