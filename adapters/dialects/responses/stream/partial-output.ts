// Keeps the output of a forwarded stream at low cost. Only a failed stream builds its output from it.
import type { JsonObject } from '../../../../core/types/request/canonical.ts'
import { isObject, loose } from '../../shared/fields.ts'

interface Kept {
  item: JsonObject
  /** Data of the delta frames; dropped when the item is done. */
  deltas: string[]
}

export class PartialOutput {
  readonly #items = new Map<number, Kept>()

  added(event: JsonObject): void {
    if (isObject(event.item) && typeof event.output_index === 'number')
      this.#items.set(event.output_index, { item: event.item, deltas: [] })
  }

  /** Adds the data of a delta frame. */
  delta(data: string): void {
    this.#items.get(outputIndex(data))?.deltas.push(data)
  }

  /** Returns true when deltas of the item were forwarded earlier. */
  done(event: JsonObject): boolean {
    const index = typeof event.output_index === 'number' ? event.output_index : -1
    const streamed = (this.#items.get(index)?.deltas.length ?? 0) > 0
    if (isObject(event.item)) this.#items.set(index, { item: event.item, deltas: [] })
    return streamed
  }

  items(): JsonObject[] {
    return [...this.#items].sort(([a], [b]) => a - b).map(([, kept]) => folded(kept))
  }
}

/** The quotes are not escaped, so the match is a member, never content. */
function outputIndex(data: string): number {
  const at = data.indexOf('"output_index":')
  return at === -1 ? -1 : Number.parseInt(data.slice(at + 15, at + 25), 10)
}

function folded(kept: Kept): JsonObject {
  if (kept.item.status === 'completed') return kept.item
  // A copy, because a second failure report would add the deltas again.
  const item = JSON.parse(JSON.stringify(kept.item)) as JsonObject
  for (const data of kept.deltas) {
    const event = parse(data)
    if (event !== null) apply(item, event)
  }
  if (item.status === 'in_progress') item.status = 'incomplete'
  return item
}

function apply(item: JsonObject, event: JsonObject): void {
  const delta = loose(event.delta)
  switch (event.type) {
    case 'response.output_text.delta':
      extend(item, 'content', event.content_index, 'text', delta, {
        type: 'output_text',
        text: '',
        annotations: [],
        logprobs: [],
      })
      break
    case 'response.refusal.delta':
      extend(item, 'content', event.content_index, 'refusal', delta, { type: 'refusal', refusal: '' })
      break
    case 'response.reasoning_summary_text.delta':
      extend(item, 'summary', event.summary_index, 'text', delta, { type: 'summary_text', text: '' })
      break
    case 'response.reasoning_text.delta':
      extend(item, 'content', event.content_index, 'text', delta, { type: 'reasoning_text', text: '' })
      break
    case 'response.function_call_arguments.delta':
      item.arguments = loose(item.arguments) + delta
      break
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

function parse(data: string): JsonObject | null {
  try {
    const event: unknown = JSON.parse(data)
    return isObject(event) ? event : null
  } catch {
    return null
  }
}
