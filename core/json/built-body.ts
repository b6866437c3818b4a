// A large answer: its bytes, and the value that was built from them in several turns. An edit keeps both: it replaces a top-level member, or
// inserts text near the start.
import { concatBytes, decodeUtf8, encodeUtf8, offsetOf } from '../text/bytes.ts'
import type { Turns } from '../timing/yield-queue.ts'
import type { Frozen, Json, JsonObject } from '../types/request/canonical.ts'
import type { WireBody } from '../types/request/dialect.ts'
import { type Built, buildInTurns } from './build-in-turns.ts'
import type { TextEdits } from './edit-text.ts'
import { pathSegments, spanInMember, valueAt } from './json-path.ts'
import { skipSpace } from './json-scan.ts'
import type { Member } from './member.ts'
import { parsedBody } from './wire-body.ts'
import { joinInTurns, piecesInTurns } from './write-in-turns.ts'

const PEEK_BYTES = 64
/** An edit of the text sees this much of it. */
const HEAD_BYTES = 16 * 1024

interface Edit {
  readonly start: number
  readonly end: number
  readonly text: string
  /** Written after the text; null for an edit of the text. */
  readonly value: Json
}

/** Builds a body of a text that was scanned before. */
export async function builtBody(bytes: Uint8Array, turns: Turns): Promise<BuiltBody> {
  return new BuiltBody(bytes, await buildInTurns(bytes, turns))
}

export class BuiltBody implements WireBody, TextEdits {
  readonly #bytes: Uint8Array
  readonly #json: JsonObject
  readonly #members: ReadonlyMap<string, Member>
  readonly #edits = new Map<string, Edit>()
  /** The edit of the text near the start. */
  #head: Edit | null = null
  /** Takes edits of other kinds, and has all edits before them. */
  #inner: WireBody | null = null

  constructor(bytes: Uint8Array, { json, members }: Built) {
    this.#bytes = bytes
    this.#json = json
    this.#members = members
  }

  get edited(): boolean {
    return this.#inner !== null || this.#edits.size > 0 || this.#head !== null
  }

  get bytes(): Uint8Array {
    return this.edited ? this.#plain().bytes : this.#bytes
  }

  get(path: string): Json | undefined {
    return this.#inner === null ? valueAt(this.#json, path) : this.#inner.get(path)
  }

  raw(path: string): string | undefined {
    const [first, ...rest] = pathSegments(path) as [string, ...string[]]
    if (this.edited) return this.#plain().raw(path)
    const member = this.#members.get(first)
    const span = member === undefined || rest.length === 0 ? member : spanInMember(this.#bytes, member, rest)
    return span === undefined || span === null ? undefined : decodeUtf8(this.#bytes, span.start, span.end)
  }

  peek(name: string): string | undefined {
    const bytes = this.slice(name)
    return bytes === undefined ? undefined : decodeUtf8(bytes, 0, Math.min(bytes.length, PEEK_BYTES))
  }

  contains(name: string, text: string): boolean {
    const bytes = this.slice(name)
    return bytes !== undefined && offsetOf(bytes, text, 0) !== -1
  }

  mayName(): boolean {
    return true
  }

  slice(name: string): Uint8Array | undefined {
    if (this.edited) return this.#plain().slice(name)
    const member = this.#members.get(name)
    return member === undefined ? undefined : this.#bytes.subarray(member.start, member.end)
  }

  set(path: string, value: Json): void {
    if (this.#inner !== null || path.includes('.')) return this.#plain().set(path, value)
    this.#edits.set(path, this.#editOf(path, value))
    // The value is this body's own: no other code has built it.
    this.#json[path] = value
  }

  remove(path: string): void {
    this.#plain().remove(path)
  }

  json(): Frozen<JsonObject> {
    return this.#inner === null ? this.#json : this.#inner.json()
  }

  toBytes(): readonly Uint8Array[] {
    return this.edited ? this.#plain().toBytes() : [this.#bytes]
  }

  whole(): Uint8Array | string {
    return this.edited ? this.#plain().whole() : this.#bytes
  }

  /** As `editText` of edit-text.ts says; `edit` gets the start of the text. */
  editText(edit: (text: string) => string | null): boolean {
    if (this.#inner !== null || this.#edits.size > 0 || this.#head !== null) return false
    const bytes = this.#bytes
    const start = bytes[0] === 0xef ? 3 : 0
    let end = Math.min(bytes.length, start + HEAD_BYTES)
    while (((bytes[end] ?? 0) & 0xc0) === 0x80) end--
    const before = decodeUtf8(bytes, start, end)
    const after = edit(before)
    if (after === null || encodeUtf8(before).length !== end - start) return false
    let same = 0
    while (same < before.length && before[same] === after[same]) same++
    let tail = 0
    while (tail < before.length - same && before.at(-1 - tail) === after.at(-1 - tail)) tail++
    const from = start + encodeUtf8(before.slice(0, same)).length
    const to = end - encodeUtf8(before.slice(before.length - tail)).length
    this.#head = { start: from, end: to, text: after.slice(same, after.length - tail), value: null }
    return true
  }

  /**
   * Returns the bytes with all edits; a part is written in each turn. `members` are written in place of the members with these names, or
   * added.
   */
  async written(turns: Turns, members: Readonly<Record<string, Json>>): Promise<Uint8Array> {
    if (this.#inner !== null)
      return new BuiltBody(this.#inner.bytes, await buildInTurns(this.#inner.bytes, turns)).written(turns, members)
    const edits = new Map(this.#edits)
    for (const [name, value] of Object.entries(members)) edits.set(name, this.#editOf(name, value))
    const values = new Map<Edit, readonly Uint8Array[]>()
    for (const edit of edits.values()) values.set(edit, await piecesInTurns(edit.value, turns))
    return joinInTurns(
      this.#pieces(edits, (edit) => values.get(edit) as readonly Uint8Array[]),
      turns,
    )
  }

  #pieces(edits: ReadonlyMap<string, Edit>, bytesOf: (edit: Edit) => readonly Uint8Array[]): Uint8Array[] {
    const list = [...edits.values()]
    const pieces: Uint8Array[] = []
    let at = 0
    for (const edit of (this.#head === null ? list : [...list, this.#head]).sort((a, b) => a.start - b.start)) {
      const { start, end, text } = edit
      if (start > at) pieces.push(this.#bytes.subarray(at, start))
      pieces.push(encodeUtf8(text))
      if (edit !== this.#head) {
        pieces.push(...bytesOf(edit))
        if (start === end && this.#members.size > 0) pieces.push(encodeUtf8(','))
      }
      at = Math.max(at, end)
    }
    pieces.push(this.#bytes.subarray(at))
    return pieces
  }

  #editOf(name: string, value: Json): Edit {
    const member = this.#members.get(name)
    if (member !== undefined) return { start: member.start, end: member.end, text: '', value }
    const open = skipSpace(this.#bytes, this.#bytes[0] === 0xef ? 3 : 0) + 1
    return { start: open, end: open, text: `${JSON.stringify(name)}:`, value }
  }

  /** Makes all edits in one turn. Only edits and reads that no large answer needs take this way. */
  #plain(): WireBody {
    this.#inner ??= parsedBody(concatBytes(this.#pieces(this.#edits, ({ value }) => [encodeUtf8(JSON.stringify(value))])))
    return this.#inner
  }
}
