// Finds the span of a dotted path in JSON text without parsing the rest, so that edits splice bytes and the digits of untouched numbers
// survive.
import { decodeUtf8, encodeUtf8 } from '../text/bytes.ts'
import type { Json, JsonObject } from '../types/request/canonical.ts'
import { skipSpace, skipValue } from './json-scan.ts'
import { keyText } from './known-texts.ts'
import type { FoundPlaces, Member, Span } from './member.ts'
import { skipString } from './string-scan.ts'

/** "a.b\.c.0" → ["a", "b.c", "0"]. */
export function pathSegments(path: string): string[] {
  if (!path.includes('\\')) return path.includes('.') ? path.split('.') : [path]
  const out: string[] = ['']
  for (let i = 0; i < path.length; i++) {
    const char = path[i] as string
    if (char === '\\' && path[i + 1] === '.') out.push(`${out.pop()}${path[++i]}`)
    else if (char === '.') out.push('')
    else out.push(`${out.pop()}${char}`)
  }
  return out
}

/** Returns the span of the value at `segments` below the value that starts at `at`; null when there is none. */
export function findSpan(bytes: Uint8Array, at: number, segments: readonly string[]): Span | null {
  const start = findStart(bytes, at, segments)
  return start === null ? null : { start, end: skipValue(bytes, start) }
}

/**
 * Returns the span of the value at `segments` below a scanned member. Each container on the way is read once: an answer with thousands of
 * tool calls asks for the text of each.
 */
export function spanInMember(bytes: Uint8Array, member: Member, segments: readonly string[]): Span | null {
  member.places ??= new Places()
  const start = member.places.find(bytes, member.start, segments)
  return start === undefined ? null : { start, end: skipValue(bytes, start) }
}

/** Returns the raw text at a path; undefined when there is none. */
export type RawReader = (...segments: readonly (string | number)[]) => string | undefined

/** Reads a JSON text at many paths. The text is asked for on first use. */
export function rawReader(text: () => string): RawReader {
  const places = new Places()
  let bytes: Uint8Array | null = null
  return (...segments) => {
    bytes ??= encodeUtf8(text())
    const start = places.find(bytes, skipSpace(bytes, 0), segments.map(String))
    return start === undefined ? undefined : decodeUtf8(bytes, start, skipValue(bytes, start))
  }
}

/** Where the values of one text start, as far as they were asked for. */
class Places implements FoundPlaces {
  /** The elements of arrays, by the array's start. */
  readonly #elements = new Map<number, readonly number[]>()
  /** The members of objects, by the object's start and the name. */
  readonly #members = new Map<string, number | undefined>()

  find(bytes: Uint8Array, from: number, segments: readonly string[]): number | undefined {
    let at: number | undefined = from
    for (const segment of segments) {
      if (at === undefined) return undefined
      at = bytes[at] === 0x5b ? this.#element(bytes, at, segment) : this.#member(bytes, at, segment)
    }
    return at
  }

  #element(bytes: Uint8Array, start: number, segment: string): number | undefined {
    if (!/^-?\d+$/.test(segment)) return undefined
    let starts = this.#elements.get(start)
    if (starts === undefined) {
      starts = elementStarts(bytes, start)
      this.#elements.set(start, starts)
    }
    return starts.at(Number(segment))
  }

  #member(bytes: Uint8Array, start: number, name: string): number | undefined {
    const place = `${start}.${name}`
    if (this.#members.has(place)) return this.#members.get(place)
    const found = child(bytes, start, name) ?? undefined
    this.#members.set(place, found)
    return found
  }
}

function elementStarts(bytes: Uint8Array, start: number): number[] {
  const starts: number[] = []
  for (let at = skipSpace(bytes, start + 1); bytes[at] !== 0x5d; ) {
    starts.push(at)
    at = skipSpace(bytes, skipValue(bytes, at))
    if (bytes[at] === 0x2c) at = skipSpace(bytes, at + 1)
  }
  return starts
}

/** Returns where that value starts, without reading it; null when there is none. */
export function findStart(bytes: Uint8Array, at: number, segments: readonly string[]): number | null {
  let start = skipSpace(bytes, at)
  for (const segment of segments) {
    const found = child(bytes, start, segment)
    if (found === null) return null
    start = found
  }
  return start
}

function child(bytes: Uint8Array, at: number, segment: string): number | null {
  const isObject = bytes[at] === 0x7b
  if (!isObject && (bytes[at] !== 0x5b || !/^-?\d+$/.test(segment))) return null
  const starts: number[] = []
  let wanted = isObject ? -1 : Number(segment)
  at = skipSpace(bytes, at + 1)
  for (let index = 0; bytes[at] !== 0x7d && bytes[at] !== 0x5d; index++) {
    let matches = index === wanted
    if (isObject) {
      const keyEnd = skipString(bytes, at)
      matches = isName(bytes, at, keyEnd, segment)
      at = skipSpace(bytes, skipSpace(bytes, keyEnd) + 1)
    }
    if (matches) return at
    if (wanted < 0) starts.push(at)
    at = skipSpace(bytes, skipValue(bytes, at))
    if (bytes[at] === 0x2c) at = skipSpace(bytes, at + 1)
  }
  if (isObject || wanted >= 0) return null
  wanted += starts.length
  return starts[wanted] ?? null
}

/** Compares a key with a name without decoding it, unless it has escapes or other than ASCII characters. */
function isName(bytes: Uint8Array, start: number, end: number, name: string): boolean {
  const { length } = name
  for (let i = 0; i < length && start + 1 + i < end; i++) {
    const byte = bytes[start + 1 + i] as number
    if (byte === 0x5c || byte > 0x7f) return keyText(bytes, start, end) === name
    if (byte !== name.charCodeAt(i)) return false
  }
  return end - start - 2 === length
}

/** Returns the raw JSON text at a path of a JSON text. */
export function rawAt(text: string, segments: readonly (string | number)[]): string | undefined {
  const bytes = new TextEncoder().encode(text)
  const span = findSpan(bytes, 0, segments.map(String))
  return span === null ? undefined : new TextDecoder().decode(bytes.subarray(span.start, span.end))
}

/** Returns the value at a path, own members only; undefined when there is none. */
export function valueAt(root: JsonObject, path: string): Json | undefined {
  if (!path.includes('.')) return Object.hasOwn(root, path) ? root[path] : undefined
  let at: Json | undefined = root
  for (const segment of pathSegments(path)) {
    if (Array.isArray(at)) at = at.at(Number(segment))
    else if (typeof at === 'object' && at !== null && Object.hasOwn(at, segment)) at = at[segment]
    else return undefined
  }
  return at
}
