// Records which member names a text contains anywhere, and in a large text the kinds of their values. A question to it replaces a search
// of the bytes.

export type ValueKind = 'array' | 'long_text'

/** Bytes of a text with its quotes. */
const LONG_TEXT = 66
const PRESENT = 1
const ARRAY = 2
const LONG = 4

/** Names are known by hash, so a collision may answer yes too often, but never no. */
export interface NamesOfText {
  mayHave(hash: number, kind: ValueKind | undefined): boolean
}

/** Gets the members that a scan reads, in their order. */
export interface NameRecorder {
  /** The name of the next value; null: it has an escape, so it may be any name. */
  name(hash: number | null): void
  /** The value is an array. */
  array(): void
  /** `bytes`: the length of the value's text, with quotes. */
  text(bytes: number): void
}

/** Names of a small text in two masks: each name sets one bit of both. Kinds are not recorded. */
export class FewNames implements NameRecorder, NamesOfText {
  #low = 0
  #high = 0

  name(hash: number | null): void {
    if (hash === null) this.#low = this.#high = -1
    else {
      this.#low |= 1 << (hash & 31)
      this.#high |= 1 << ((hash >>> 5) & 31)
    }
  }

  array(): void {}

  text(): void {}

  /** Adds the bits of many names. */
  add(low: number, high: number): void {
    this.#low |= low
    this.#high |= high
  }

  mayHave(hash: number): boolean {
    return (this.#low & (1 << (hash & 31))) !== 0 && (this.#high & (1 << ((hash >>> 5) & 31))) !== 0
  }
}

/** Names of a large text, with the kinds of their values. */
export class MemberNames implements NameRecorder, NamesOfText {
  readonly #kinds = new Map<number, number>()
  #anyName = false
  #hash = 0

  name(hash: number | null): void {
    if (hash === null) this.#anyName = true
    else this.#hash = hash
    if (hash !== null && !this.#kinds.has(hash)) this.#kinds.set(hash, PRESENT)
  }

  array(): void {
    this.#add(ARRAY)
  }

  text(bytes: number): void {
    if (bytes > LONG_TEXT) this.#add(LONG)
  }

  #add(kind: number): void {
    this.#kinds.set(this.#hash, (this.#kinds.get(this.#hash) ?? 0) | kind)
  }

  mayHave(hash: number, kind: ValueKind | undefined): boolean {
    if (this.#anyName) return true
    const kinds = this.#kinds.get(hash) ?? 0
    return (kinds & (kind === undefined ? PRESENT : kind === 'array' ? ARRAY : LONG)) !== 0
  }
}
