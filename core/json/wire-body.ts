// Holds a JSON body as bytes with splices: read by path, edited in place, parsed only when a hook needs the whole.
import { bodyText, concatBytes, decodeUtf8, encodeUtf8, searchable } from '../text/bytes.ts'
import type { Turns } from '../timing/yield-queue.ts'
import type { Frozen, Json, JsonObject } from '../types/request/canonical.ts'
import type { WireBody } from '../types/request/dialect.ts'
import { buildInTurns } from './build-in-turns.ts'
import type { TextEdits } from './edit-text.ts'
import { findSpan, pathSegments, spanInMember, valueAt } from './json-path.ts'
import { scanObject, skipSpace } from './json-scan.ts'
import { nameHash } from './key-stack.ts'
import type { Member } from './member.ts'
import { withoutCaches } from './member-caches.ts'
import type { NamesOfText, ValueKind } from './member-names.ts'
import { memberSpan } from './member-span.ts'
import { memberValue } from './member-value.ts'
import { nestedSplice } from './nested-splice.ts'
import { PIECE_BYTES, parseJson, parseMembers } from './parse-span.ts'
import { Splices } from './splices.ts'

/**
 * Returns an upstream's answer as a body: parsed natively, scanned only when it is edited. Duplicate keys are not checked.
 * @param text the decoded text of the same bytes, if there is one.
 * @throws SyntaxError when it is not JSON.
 */
export function parsedBody(bytes: Uint8Array, text = bodyText(bytes)): WireBody {
  const json = JSON.parse(text) as Json
  if (typeof json !== 'object' || json === null || Array.isArray(json)) throw new SyntaxError('not an object')
  return new SplicedBody(bytes, null, json, text)
}

/** Builds the value of a large body that was scanned, in several turns of the event loop. */
export async function parseInTurns(body: WireBody, turns: Turns): Promise<void> {
  if (body instanceof SplicedBody) await body.parseInTurns(turns)
}

/**
 * Returns a body that the gateway wrote from scanned parts. It is scanned again only when a member is read or edited. Do not use it for
 * bodies with parsed or verbatim tool arguments: those were texts inside the caller's body and were never scanned.
 */
export function writtenBody(bytes: Uint8Array): WireBody {
  return new SplicedBody(bytes, null)
}

/** Returns a second body over the same bytes: neither sees the edits of the other. Do not edit the source itself. */
export function forkBody(body: WireBody): WireBody {
  return body instanceof SplicedBody ? body.fork() : wireBody(body.bytes)
}

/** Lets go of what can be computed again, for a request whose answer may stream for long. */
export function restBody(body: WireBody): void {
  if (body instanceof SplicedBody) body.rest()
}

const PEEK_BYTES = 64
const REWRITE_BYTES = 16 * 1024
const LONG_INTEGER = /[:,[\s]-?\d{16}/

/**
 * Scans and wraps a JSON object; `scanned` and `names`: the members of an earlier scan, and the names that it recorded.
 * @throws GatewayError 400 when it is not an object, is too deep, or repeats a key.
 */
export function wireBody(source: Uint8Array | string, scanned?: Map<string, Member>, names?: NamesOfText): WireBody {
  const bytes = typeof source === 'string' ? encodeUtf8(source) : source
  return new SplicedBody(bytes, scanned ?? scanObject(bytes), null, null, names ?? null)
}

class SplicedBody implements WireBody, TextEdits {
  #bytes: Uint8Array
  #scanned: Map<string, Member> | null
  /** A splice replaces or inserts; a removal materialises the bytes. */
  readonly #splices = new Splices()
  #touched: Map<string, Json> | null = null
  #json: JsonObject | null
  /** Text of an unchanged or rewritten answer. */
  #text: string | null
  /** Names of the unchanged bytes. */
  #names: NamesOfText | null
  /** True when the text is newer than the bytes. */
  #unencoded = false
  edited = false

  constructor(
    bytes: Uint8Array,
    members: Map<string, Member> | null,
    json: JsonObject | null = null,
    text: string | null = null,
    names: NamesOfText | null = null,
  ) {
    this.#bytes = bytes
    this.#scanned = members
    this.#json = json
    this.#text = text
    this.#names = names
  }

  editText(edit: (text: string) => string | null): boolean {
    const edited = this.#text === null || this.#scanned !== null ? null : edit(this.#text)
    if (edited === null) return false
    this.#write(edited)
    return true
  }

  async parseInTurns(turns: Turns): Promise<void> {
    if (this.#json !== null || this.#scanned === null || !this.#splices.isEmpty) return
    const bytes = this.#bytes
    const { json } = await buildInTurns(bytes, turns)
    if (this.#bytes === bytes && this.#splices.isEmpty) this.#json ??= json
  }

  rest(): void {
    if (this.#scanned !== null && this.#splices.isEmpty) this.#scanned = withoutCaches(this.#scanned, this.#bytes.length)
  }

  #members(): Map<string, Member> {
    this.#encode()
    this.#scanned ??= scanObject(this.#bytes)
    return this.#scanned
  }

  /** Returns the member as it is after the edits. */
  #current(member: string): Member | undefined {
    if (this.#touched?.has(member)) this.#materialise()
    return this.#members().get(member)
  }

  fork(): SplicedBody {
    this.#materialise()
    return new SplicedBody(this.#bytes, this.#scanned, this.#json, null, this.#names)
  }

  get bytes(): Uint8Array {
    this.#materialise()
    return this.#bytes
  }

  get(path: string): Json | undefined {
    const touched = this.#touched?.get(path)
    if (touched !== undefined) return touched
    if (this.#json !== null) return valueAt(this.#json, path)
    if (this.#touched === null && !path.includes('.')) {
      const member = this.#members().get(path)
      return member === undefined ? undefined : memberValue(this.#bytes, member)
    }
    const raw = this.raw(path)
    return raw === undefined ? undefined : parseJson(raw)
  }

  raw(path: string): string | undefined {
    if (!path.includes('.') && this.#touched === null) {
      const plain = this.#members().get(path)
      if (plain === undefined) return undefined
      plain.text ??= decodeUtf8(this.#bytes, plain.start, plain.end)
      return plain.text
    }
    const [first, ...rest] = pathSegments(path) as [string, ...string[]]
    const member = this.#current(first)
    const span = member === undefined || rest.length === 0 ? member : spanInMember(this.#bytes, member, rest)
    return span ? decodeUtf8(this.#bytes, span.start, span.end) : undefined
  }

  peek(member: string): string | undefined {
    const found = this.#current(member)
    return found && decodeUtf8(this.#bytes, found.start, Math.min(found.end, found.start + PEEK_BYTES))
  }

  contains(member: string, text: string): boolean {
    const found = this.#current(member)
    if (found) found.view ??= searchable(this.#bytes, found.start, found.end)
    return found?.view?.includes(text) ?? false
  }

  mayName(name: string, kind?: ValueKind): boolean {
    return this.#names === null || this.#names.mayHave(nameHash(name), kind)
  }

  slice(member: string): Uint8Array | undefined {
    const found = this.#current(member)
    return found && this.#bytes.subarray(found.start, found.end)
  }

  set(path: string, value: Json): void {
    if (this.#scanned === null && this.#json !== null && this.#rewrite(path, value)) return
    const [first, ...rest] = pathSegments(path) as [string, ...string[]]
    const member = this.#current(first)
    this.edited = true
    this.#json = null
    this.#touched ??= new Map()
    if (member === undefined) {
      const inserted = rest.reduceRight<Json>((inner, key) => ({ [key]: inner }), value)
      const open = this.#open()
      const comma = this.#members().size > 0 || this.#splices.hasAt(open) ? ',' : ''
      this.#splices.add(open, open, `${JSON.stringify(first)}:${JSON.stringify(inserted)}${comma}`)
      this.#touched.set(first, inserted)
      return
    }
    if (rest.length === 0) {
      this.#splices.add(member.start, member.end, JSON.stringify(value))
      this.#touched.set(first, value)
      return
    }
    const nested = nestedSplice(this.#bytes, member.start, rest, value)
    if (nested !== null) this.#splices.add(...nested)
    this.#touched.set(first, null)
    this.#materialise()
  }

  remove(path: string): void {
    const segments = pathSegments(path)
    this.#materialise()
    const parent = segments.slice(0, -1)
    const container = parent.length === 0 ? 0 : this.#members().get(parent[0] as string)?.start
    if (container === undefined) return
    const owner = findSpan(this.#bytes, this.#skipBom(container), parent.slice(1))
    const gone = this.#span(segments)
    if (owner === null || gone === null) return
    const { start, end } = memberSpan(this.#bytes, owner.start, gone.start, gone.end)
    this.#splices.add(start, end, '')
    this.edited = true
    this.#materialise()
  }

  json(): Frozen<JsonObject> {
    this.#json ??=
      this.bytes.length > PIECE_BYTES
        ? parseMembers(this.#bytes, this.#members())
        : (parseJson(decodeUtf8(this.#bytes, this.#skipBom(0))) as JsonObject)
    return this.#json
  }

  whole(): Uint8Array | string {
    if (this.#unencoded) return this.#text as string
    return concatBytes(this.toBytes())
  }

  toBytes(): readonly Uint8Array[] {
    this.#encode()
    return this.#splices.isEmpty ? [this.#bytes] : this.#splices.applied(this.#bytes)
  }

  /** Rewrites a small parsed answer, because scanning it for one member costs more. Never done when a number could lose a digit. */
  #rewrite(path: string, value: Json): boolean {
    this.#encode()
    if (path.includes('.') || this.#bytes.length > REWRITE_BYTES || LONG_INTEGER.test(this.#text ?? decodeUtf8(this.#bytes)))
      return false
    // An identical value was edited in place.
    if (this.#json?.[path] !== value) this.#json = { ...this.#json, [path]: value }
    this.#write(JSON.stringify(this.#json))
    return true
  }

  #write(text: string): void {
    this.#text = text
    this.#unencoded = true
    this.edited = true
  }

  #encode(): void {
    if (!this.#unencoded) return
    this.#unencoded = false
    this.#bytes = encodeUtf8(this.#text as string)
  }

  #span(segments: readonly string[]): { start: number; end: number } | null {
    const member = this.#members().get(segments[0] as string)
    return member === undefined || segments.length === 1
      ? (member ?? null)
      : findSpan(this.#bytes, member.start, segments.slice(1))
  }

  #open(): number {
    return skipSpace(this.#bytes, this.#skipBom(0)) + 1
  }

  #skipBom(at: number): number {
    return at === 0 && this.#bytes[0] === 0xef ? 3 : at
  }

  #materialise(): void {
    this.#encode()
    this.#touched = null
    if (this.#splices.isEmpty) return
    this.#bytes = concatBytes(this.toBytes())
    this.#splices.clear()
    this.#json = null
    this.#text = null
    this.#scanned = null
    this.#names = null
  }
}
