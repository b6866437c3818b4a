// Keeps members that a vendor adds to the published ones. A caller of the same dialect gets them unchanged.
import type { Json, JsonObject } from '../../../core/types/request/canonical.ts'
import { isObject, unknownMembers } from './read.ts'

// `obfuscation` only pads a chunk's length.
const CHUNK: ReadonlySet<string> = new Set(['id', 'object', 'created', 'model', 'choices', 'usage', 'obfuscation', 'x_groq'])
// Some vendors repeat the whole message so far beside the delta.
const CHOICE: ReadonlySet<string> = new Set(['index', 'delta', 'message', 'logprobs', 'finish_reason'])

/** Members that are decoded into parts and encoded from them. */
const MESSAGE: ReadonlySet<string> = new Set([
  ...['role', 'content', 'refusal', 'annotations', 'audio', 'images', 'tool_calls', 'function_call'],
  ...['reasoning_content', 'reasoning', 'reasoning_details', 'thinking_blocks'],
])

/** Returns unknown members of a choice; those of its message are in the member `message`. */
export function ownOfChoice(choice: JsonObject): JsonObject | undefined {
  const own = unknownMembers(choice, CHOICE)
  const message = ownOfMessage(choice.message)
  return message === undefined ? own : { ...own, message }
}

/** Merges the pieces of a stream: texts and lists are appended, other values replace the old ones. */
export function addOwnOfDelta(sofar: JsonObject | undefined, delta: JsonObject): JsonObject | undefined {
  const own = ownOfMessage(delta)
  if (own === undefined || sofar === undefined) return own ?? sofar
  for (const name in own) {
    const [held, value] = [sofar[name], own[name] as Json]
    if (typeof held === 'string' && typeof value === 'string') sofar[name] = held === value ? held : held + value
    else if (Array.isArray(held) && Array.isArray(value)) sofar[name] = [...held, ...value]
    else sofar[name] = value
  }
  return sofar
}

function ownOfMessage(message: Json | undefined): JsonObject | undefined {
  return isObject(message) ? unknownMembers(message, MESSAGE) : undefined
}

/** Collects unknown members of a stream's chunks: those at its start, and those that appear later. */
export class OwnMembers {
  #first: JsonObject | undefined
  #later: JsonObject | undefined

  observe(chunk: JsonObject, started: boolean): void {
    const own = unknownMembers(chunk, CHUNK)
    if (own === undefined) return
    if (!started) this.#first = { ...this.#first, ...own }
    else this.#later = this.#later === undefined ? own : Object.assign(this.#later, own)
  }

  first(): { ext?: { chat: JsonObject } } {
    return this.#first === undefined ? {} : { ext: { chat: this.#first } }
  }

  /** Most vendors repeat the same members in every chunk. */
  later(): { ext?: { chat: JsonObject } } {
    let news: JsonObject | undefined
    for (const name in this.#later) {
      const value = this.#later[name] ?? null
      if (JSON.stringify(value) === JSON.stringify(this.#first?.[name])) continue
      news ??= {}
      news[name] = value
    }
    return news === undefined ? {} : { ext: { chat: news } }
  }
}
