// Joins the pieces of a large body while they arrive. Joining them at the end would copy the whole body in one turn of the event loop.
import { concatBytes, newBytes } from './bytes.ts'

/** A smaller body stays a list: joining it costs less than a second copy. */
const JOINED_FROM = 131_072

export class GatheredBytes {
  readonly #expected: number
  #list: Uint8Array[] = []
  #whole: Uint8Array | null = null
  #size = 0

  /** @param expected the declared length; 0: unknown. It must be within the body's limit. */
  constructor(expected = 0) {
    this.#expected = expected
  }

  get size(): number {
    return this.#size
  }

  add(piece: Uint8Array): void {
    const size = this.#size + piece.length
    if (size <= JOINED_FROM) this.#list.push(piece)
    else this.#room(size).set(piece, this.#size)
    this.#size = size
  }

  /** Returns all bytes. */
  bytes(): Uint8Array {
    return this.#whole === null ? concatBytes(this.#list) : this.#whole.subarray(0, this.#size)
  }

  clear(): void {
    this.#list = []
    this.#whole = null
    this.#size = 0
  }

  /** Returns memory for at least this many bytes, with all earlier pieces in it. */
  #room(size: number): Uint8Array {
    if (this.#whole !== null && this.#whole.length >= size) return this.#whole
    const whole = newBytes(this.#expected >= size ? this.#expected : 2 * size)
    let at = 0
    for (const piece of this.#whole === null ? this.#list : [this.#whole.subarray(0, this.#size)]) {
      whole.set(piece, at)
      at += piece.length
    }
    this.#list = []
    this.#whole = whole
    return whole
  }
}
