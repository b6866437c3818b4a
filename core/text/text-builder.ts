// Joins many short texts into a long one without keeping an object for each.

/** Characters after which the newest pieces become one flat string. */
const FLAT_AT = 4096

/**
 * A string made with `+=` is a tree that keeps every piece alive: 60 bytes for a five-letter word. This class flattens the tree every 4
 * KiB.
 */
export class TextBuilder {
  #whole = ''
  #tail = ''

  add(text: string): void {
    this.#tail += text
    if (this.#tail.length < FLAT_AT) return
    // Reading one character makes V8 flatten the tree.
    this.#tail.charCodeAt(0)
    this.#whole += this.#tail
    this.#tail = ''
  }

  toString(): string {
    return this.#whole + this.#tail
  }
}
