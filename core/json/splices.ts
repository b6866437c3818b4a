// The pending edits of a body: spans of its bytes and the text that replaces each. An empty span inserts.
import { encodeUtf8 } from '../text/bytes.ts'

interface Splice {
  readonly start: number
  readonly end: number
  readonly text: Uint8Array
}

export class Splices {
  /** Sorted by offset; the last one added at an offset comes first. */
  #list: Splice[] = []

  get isEmpty(): boolean {
    return this.#list.length === 0
  }

  hasAt(start: number): boolean {
    return this.#list.some((splice) => splice.start === start)
  }

  add(start: number, end: number, text: string): void {
    let index = this.#list.length
    while (index > 0 && (this.#list[index - 1] as Splice).start >= start) index--
    this.#list.splice(index, 0, { start, end, text: encodeUtf8(text) })
  }

  clear(): void {
    this.#list = []
  }

  /** Returns the edited bytes as a list of slices. */
  applied(bytes: Uint8Array): Uint8Array[] {
    const out: Uint8Array[] = []
    let at = 0
    for (const splice of this.#list) {
      if (splice.start > at) out.push(bytes.subarray(at, splice.start))
      out.push(splice.text)
      at = splice.end
    }
    out.push(bytes.subarray(at))
    return out
  }
}
