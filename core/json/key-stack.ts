// Tracks the keys of open objects while a JSON text is scanned. It finds duplicates without decoding the other keys.
import { keyText, knownKeyText } from './known-texts.ts'

const QUOTE = 0x22
const BACKSLASH = 0x5c
/** An object with this many keys compares them as texts in a Set. */
const MANY_KEYS = 24
/** After a body with more keys, the arrays shrink again. */
const KEPT_KEYS = 65_536

/** Returns the hash of a name without escapes, as `KeyStack` computes it from the bytes. */
export function nameHash(name: string): number {
  let hash = 0
  for (let i = 0; i < name.length; i++) hash = (Math.imul(hash, 31) + name.charCodeAt(i)) | 0
  return hash
}

/**
 * The keys of the open objects in flat arrays: hashes and spans, with a mark at each object's first key. It is reused by all scans. Text
 * is decoded only when two keys may be equal. Objects with many keys use a Set of texts instead.
 */
export class KeyStack {
  readonly #hashes: number[] = []
  readonly #spans: number[] = []
  /** For each open container: the index of its first key, or -1 for an array. */
  readonly #marks: number[] = []
  readonly #many: (Set<string> | undefined)[] = []
  /** Number of keys of all open objects. Truncating the arrays instead would call into the runtime. */
  #count = 0
  /** Hash of the last key; null for a key with an escape. */
  #hash: number | null = null
  depth = 0

  reset(): void {
    this.depth = 0
    this.#count = 0
    if (this.#many.length > 0) this.#many.length = 0
    if (this.#hashes.length > KEPT_KEYS) this.#hashes.length = this.#spans.length = 0
  }

  open(isObject: boolean): void {
    this.#marks[this.depth] = isObject ? this.#count : -1
    if (this.#many.length > this.depth) this.#many[this.depth] = undefined
    this.depth++
  }

  close(): void {
    const mark = this.#marks[--this.depth] as number
    if (mark !== -1) this.#count = mark
  }

  get inObject(): boolean {
    return this.#marks[this.depth - 1] !== -1
  }

  /** Hash of the key that was added last; null: it has an escape. */
  get lastHash(): number | null {
    return this.#hash
  }

  /**
   * Reads a key whose opening quote is at `start`, and keeps its hash for `add`. Returns the offset after its closing quote; -1 for a
   * key with an escape or a fault, which has no hash.
   */
  read(bytes: Uint8Array, start: number): number {
    const { length } = bytes
    let hash = 0
    let at = start + 1
    while (at < length) {
      const byte = bytes[at] as number
      if (byte <= BACKSLASH) {
        if (byte === QUOTE) {
          this.#hash = hash
          return at + 1
        }
        if (byte === BACKSLASH || byte < 0x20) break
      }
      hash = (Math.imul(hash, 31) + byte) | 0
      at++
    }
    this.#hash = null
    return -1
  }

  /** Adds the key that was read last. Returns it when the innermost object has it already, otherwise null. */
  add(bytes: Uint8Array, start: number, end: number): string | null {
    const mark = this.#marks[this.depth - 1] as number
    const count = this.#count
    const hash = this.#hash
    // An escaped key may equal a plain one: this object's further keys are compared as text.
    if (hash === null) return this.#addText(bytes, start, end, mark)
    if (count - mark >= MANY_KEYS || this.#many[this.depth - 1] !== undefined) return this.#addText(bytes, start, end, mark)
    for (let i = mark; i < count; i++) {
      if (this.#hashes[i] !== hash) continue
      const key = keyText(bytes, start, end)
      if (key === keyText(bytes, this.#spans[2 * i] as number, this.#spans[2 * i + 1] as number)) return key
    }
    this.#hashes[count] = hash
    this.#spans[2 * count] = start
    this.#spans[2 * count + 1] = end
    this.#count++
    return null
  }

  /** Returns the text of the last key. */
  text(bytes: Uint8Array, start: number, end: number): string {
    return this.#hash === null ? keyText(bytes, start, end) : knownKeyText(bytes, this.#hash, start, end)
  }

  #addText(bytes: Uint8Array, start: number, end: number, mark: number): string | null {
    let many = this.#many[this.depth - 1]
    if (many === undefined) {
      many = new Set()
      for (let i = mark; i < this.#count; i++) {
        many.add(keyText(bytes, this.#spans[2 * i] as number, this.#spans[2 * i + 1] as number))
      }
      this.#many[this.depth - 1] = many
    }
    const key = keyText(bytes, start, end)
    if (many.has(key)) return key
    many.add(key)
    return null
  }
}
