// Parses a large JSON object in several turns of the event loop. The text was scanned before, so its grammar and depth are known.
import { decodeUtf8 } from '../text/bytes.ts'
import type { Turns } from '../timing/yield-queue.ts'
import type { Json, JsonObject } from '../types/request/canonical.ts'
import { skipSpace, skipWord } from './json-scan.ts'
import { keyText } from './known-texts.ts'
import type { Member } from './member.ts'
import { appendElements, define, PIECE_BYTES, parseJson } from './parse-span.ts'

export interface Built {
  readonly json: JsonObject
  /** The spans of the top-level values. When a name repeats, it has the last member, as the object has. */
  readonly members: Map<string, Member>
}

/** Takes a few milliseconds. */
const STEP_BYTES = 512 * 1024
/** A longer string is decoded in parts of this size. */
const TEXT_BYTES = 128 * 1024
const QUOTE = 0x22
const BACKSLASH = 0x5c

/** A container whose end has not been reached. */
interface Open {
  readonly isObject: boolean
  readonly start: number
  /** The values that are parsed already; null: none yet. A container within one piece is parsed with its parent. */
  out: Json[] | JsonObject | null
  /** Where the part that is not parsed yet starts; -1: at the next element. */
  run: number
  /** Start of the current element, or of its key. */
  item: number
  keyEnd: number
}

/** Returns the object and where its members are. */
export async function buildInTurns(bytes: Uint8Array, turns: Turns): Promise<Built> {
  const open = skipSpace(bytes, bytes[0] === 0xef ? 3 : 0)
  if (bytes[skipSpace(bytes, open + 1)] === 0x7d) return { json: {}, members: new Map() }
  const builder = new Builder(bytes, open)
  for (;;) {
    const built = builder.step()
    if (built !== null) return built
    await turns.next()
  }
}

class Builder {
  readonly #bytes: Uint8Array
  readonly #members = new Map<string, Member>()
  readonly #open: Open[] = []
  /** Start of the value that comes next; inside a long string: where its next part starts. */
  #at: number
  /** Start of the current value. */
  #start = 0
  /** The decoded parts of a long string; null: outside of one. */
  #text: string | null = null

  constructor(bytes: Uint8Array, at: number) {
    this.#bytes = bytes
    this.#at = at
  }

  /** Returns null while the text goes on. */
  step(): Built | null {
    const bytes = this.#bytes
    const stop = this.#at + STEP_BYTES
    while (this.#at < stop) {
      let value: Json | undefined
      if (this.#text !== null) {
        value = this.#longText(this.#text)
        if (value === undefined) continue
      } else {
        const at = this.#at
        const byte = bytes[at]
        this.#start = at
        if (byte === 0x7b || byte === 0x5b) {
          if (this.#opened(at, byte === 0x7b)) continue
        } else if (byte !== QUOTE) this.#at = skipWord(bytes, at)
        else if (!this.#shortText(at)) continue
      }
      const json = this.#ended(value)
      if (json !== null) return { json, members: this.#members }
    }
    return null
  }

  /** Returns false for an empty container: it ends here. */
  #opened(at: number, isObject: boolean): boolean {
    const bytes = this.#bytes
    const first = skipSpace(bytes, at + 1)
    if (bytes[first] === (isObject ? 0x7d : 0x5d)) {
      this.#at = first + 1
      return false
    }
    const open: Open = { isObject, start: at, out: null, run: first, item: first, keyEnd: first }
    this.#open.push(open)
    this.#at = first
    this.#begin(open)
    return true
  }

  /** Moves on to the value of the element that starts here. */
  #begin(open: Open): void {
    const bytes = this.#bytes
    open.item = this.#at
    if (open.run === -1) open.run = this.#at
    if (!open.isObject) return
    open.keyEnd = stringEnd(bytes, this.#at, bytes.length)
    this.#at = skipSpace(bytes, skipSpace(bytes, open.keyEnd) + 1)
  }

  /** Returns false when the string is long. */
  #shortText(at: number): boolean {
    const end = stringEnd(this.#bytes, at, at + PIECE_BYTES)
    if (end === -1) this.#text = ''
    this.#at = end === -1 ? at + 1 : end
    return end !== -1
  }

  /** Returns the string when its end was reached. */
  #longText(before: string): string | undefined {
    const bytes = this.#bytes
    const from = this.#at
    const limit = Math.min(from + TEXT_BYTES, bytes.length)
    let at = from
    let escaped = false
    while (at < limit && bytes[at] !== QUOTE) {
      if (bytes[at] === BACKSLASH) {
        escaped = true
        at += bytes[at + 1] === 0x75 ? 6 : 2
      } else at++
    }
    // A character stays whole.
    while (((bytes[at] as number) & 0xc0) === 0x80) at++
    const part = decodeUtf8(bytes, from, at)
    const text = before + (escaped ? (parseJson(`"${part}"`) as string) : part)
    const isEnd = bytes[at] === QUOTE
    this.#at = isEnd ? at + 1 : at
    this.#text = isEnd ? null : text
    // V8 joins the parts when the text is read first. On the byte lane it never is.
    return isEnd ? text : undefined
  }

  /** Goes on after a value. `value`: it was parsed alone, because it is large. Returns the whole object at its end. */
  #ended(value: Json | undefined): JsonObject | null {
    const bytes = this.#bytes
    let ready = value
    let start = this.#start
    for (let at = this.#at; ; ) {
      const open = this.#open.at(-1) as Open
      if (this.#open.length === 1) this.#note(open, start, at)
      if (ready !== undefined) {
        this.#parse(open, open.item)
        put(open, ready, open.isObject ? keyText(bytes, open.item, open.keyEnd) : '')
      } else if (at - open.run > PIECE_BYTES) this.#parse(open, at)
      at = skipSpace(bytes, at)
      if (bytes[at] === 0x2c) {
        this.#at = skipSpace(bytes, at + 1)
        this.#begin(open)
        return null
      }
      const isWhole = this.#open.length === 1
      if (isWhole || open.out !== null) this.#parse(open, at)
      this.#open.pop()
      if (isWhole) return (open.out ?? {}) as JsonObject
      at++
      ready = open.out ?? undefined
      start = open.start
    }
  }

  #note({ item, keyEnd }: Open, start: number, end: number): void {
    this.#members.set(keyText(this.#bytes, item, keyEnd), {
      keyStart: item,
      start,
      end,
      text: undefined,
      view: undefined,
      places: undefined,
    })
  }

  /** Parses the elements from the run's start to `end`. */
  #parse(open: Open, end: number): void {
    const { run } = open
    open.run = -1
    if (run === -1 || run >= end) return
    if (!open.isObject) {
      open.out ??= []
      appendElements(open.out as Json[], this.#bytes, run, end)
      return
    }
    open.out ??= {}
    const text = decodeUtf8(this.#bytes, run, end).trimEnd()
    const part = parseJson(`{${text.endsWith(',') ? text.slice(0, -1) : text}}`) as JsonObject
    for (const name in part) define(open.out as JsonObject, name, part[name] as Json)
  }
}

function put(open: Open, value: Json, name: string): void {
  open.out ??= open.isObject ? {} : []
  if (open.isObject) define(open.out as JsonObject, name, value)
  else (open.out as Json[]).push(value)
}

/** Returns the offset after the string that starts at `at`; -1 when it does not end before `limit`. */
function stringEnd(bytes: Uint8Array, at: number, limit: number): number {
  const { length } = bytes
  const stop = limit < length ? limit : length
  for (let i = at + 1; i < stop; ) {
    const byte = bytes[i]
    if (byte === QUOTE) return i + 1
    i += byte === BACKSLASH ? 2 : 1
  }
  return -1
}
