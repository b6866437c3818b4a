// What a vendor adds to an answer beside the published members: a caller of the same dialect gets it as it came.
import type { JsonObject } from '../../../core/types/canonical.ts'
import { unknownMembers } from './read.ts'

// `obfuscation` only evens out the length of a chunk.
const CHUNK: ReadonlySet<string> = new Set(['id', 'object', 'created', 'model', 'choices', 'usage', 'obfuscation', 'x_groq'])
// Some say the whole message so far again beside the delta.
const CHOICE: ReadonlySet<string> = new Set(['index', 'delta', 'message', 'logprobs', 'finish_reason'])

export function ownOfChoice(choice: JsonObject): JsonObject | undefined {
  return unknownMembers(choice, CHOICE)
}

/** Those of a stream's chunks: what is there when it starts, and what was said only later. */
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

  /** Most vendors say the same in every chunk. */
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
