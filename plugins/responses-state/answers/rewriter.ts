// Puts the gateway's ids into the text of an answer, in place of the upstream's. All other text stays as it is.
import type { Frozen, Json, JsonObject } from '../../../core/types/request/canonical.ts'
import type { AnswerRewriter } from '../../../core/types/request/context.ts'
import { withMembers } from './json-members.ts'

export interface RewriterParts {
  /** The id that takes the place of the upstream's. `index`: the place of an item in the output; null: the response itself. */
  idFor(id: string, index: number | null): string
  /** Members that every copy of the response gets: the ids of what it continues. */
  readonly members: JsonObject
  /** Gets the finished response with the new ids, before its last text is sent. Returns whether it is stored. */
  finished(response: JsonObject, upstream: ReadonlyMap<string, string>): boolean
  /** Returns whether an answer of this many bytes is too large to be stored. */
  refused(bytes: number): boolean
  end(): Promise<void>
}

/** Matches members with an id. In a string inside the JSON the quotes are escaped, so no text of a model matches. */
const ID_MEMBER = /("(?:id|item_id|response_id)"\s*:\s*)"([^"\\]{1,256})"/g
const FRAME_END = /(?<=\n\r?\n|\r\r)/
const NEXT_DATA = /(?:\r\n|\n|\r)data: ?/g
const TYPE = /"type"\s*:\s*"(response\.[a-z_.]{1,64})"/
const RUNNING = new Set(['response.created', 'response.queued', 'response.in_progress'])
const ENDED = new Set(['response.completed', 'response.incomplete', 'response.failed', 'response.cancelled'])
const STORABLE = new Set<Json | undefined>(['completed', 'incomplete'])

export class IdRewriter implements AnswerRewriter {
  readonly #parts: RewriterParts
  /** The ids that the caller gets, by the upstream's. */
  readonly #ids = new Map<string, string>()

  constructor(parts: RewriterParts) {
    this.#parts = parts
  }

  whole(text: string): string {
    const response = objectIn(text)
    return response === null ? text : this.#response(text, response, [])
  }

  /** An answer that is not stored keeps the upstream's ids of its items. */
  large({ id }: Frozen<JsonObject>, bytes: number): JsonObject | null {
    if (!this.#parts.refused(bytes)) return null
    return { ...this.#parts.members, ...(typeof id === 'string' && { id: this.#parts.idFor(id, null) }), store: false }
  }

  frames(text: string): string {
    if (!text.includes('{')) return text
    return text
      .split(FRAME_END)
      .map((frame) => this.#frame(frame))
      .join('')
  }

  end(): Promise<void> {
    return this.#parts.end()
  }

  #frame(frame: string): string {
    const start = frame.indexOf('{')
    if (start === -1) return frame
    const type = /^event: ?(\S+)/m.exec(frame.slice(0, start))?.[1] ?? TYPE.exec(frame)?.[1] ?? ''
    const isItem = type === 'response.output_item.added' || type === 'response.output_item.done'
    if (!isItem && !RUNNING.has(type) && !ENDED.has(type)) return this.#replaced(frame)
    // In JSON text, line breaks occur only between tokens.
    const end = frame.length - (/[\r\n]+$/.exec(frame)?.[0].length ?? 0)
    const json = frame.slice(start, end).replace(NEXT_DATA, ' ')
    const event = objectIn(json)
    if (event === null) return frame
    const { response, item, output_index: index } = event
    if (isItem && isObject(item)) this.#learn(item.id, typeof index === 'number' ? index : 0)
    if (isItem || !isObject(response)) return this.#replaced(frame)
    return frame.slice(0, start) + this.#response(json, response, ['response'], ENDED.has(type)) + frame.slice(end)
  }

  /** `at`: the path of the response in the text. */
  #response(text: string, response: JsonObject, at: readonly string[], ended = true): string {
    this.#learn(response.id, null)
    const output = Array.isArray(response.output) ? response.output : []
    for (const [index, item] of output.entries()) if (isObject(item)) this.#learn(item.id, index)
    const { members } = this.#parts
    const shown: JsonObject = {
      ...response,
      ...members,
      id: this.#idOf(response.id),
      output: output.map((item) => (isObject(item) ? { ...item, id: this.#idOf(item.id) } : item)),
    }
    const store = !ended || (STORABLE.has(response.status) && this.#parts.finished(shown, this.#ids))
    return withMembers(this.#replaced(text), at, { ...members, store })
  }

  #learn(id: Json | undefined, index: number | null): void {
    if (typeof id === 'string' && !this.#ids.has(id)) this.#ids.set(id, this.#parts.idFor(id, index))
  }

  #idOf(id: Json | undefined): Json {
    return typeof id === 'string' ? (this.#ids.get(id) ?? id) : (id ?? null)
  }

  #replaced(text: string): string {
    if (this.#ids.size === 0) return text
    return text.replace(ID_MEMBER, (member, head: string, id: string) => {
      const own = this.#ids.get(id)
      return own === undefined ? member : `${head}"${own}"`
    })
  }
}

function objectIn(text: string): JsonObject | null {
  try {
    const value: unknown = JSON.parse(text)
    return isObject(value) ? value : null
  } catch {
    return null
  }
}

function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
