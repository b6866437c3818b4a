// Parses a part of a JSON text that was scanned before. A large part is decoded and parsed in pieces: a string of a megabyte costs V8 five
// times as much as the same text in small strings.
import { GatewayError } from '../errors/gateway-error.ts'
import { decodeUtf8 } from '../text/bytes.ts'
import type { Json, JsonObject } from '../types/request/canonical.ts'
import { skipSpace, skipValue } from './json-scan.ts'
import { keyText } from './known-texts.ts'
import type { Span } from './member.ts'
import { skipString } from './string-scan.ts'

export const PIECE_BYTES = 32 * 1024

/** @throws GatewayError 400. */
export function parseJson(text: string): Json {
  try {
    return JSON.parse(text) as Json
  } catch {
    throw GatewayError.invalid(null, 'The body is not valid JSON.')
  }
}

/** Returns the value between two offsets of a text that was scanned before. */
export function parseSpan(bytes: Uint8Array, start: number, end: number, pieceBytes = PIECE_BYTES): Json {
  const open = bytes[start]
  if (end - start <= pieceBytes || (open !== 0x5b && open !== 0x7b)) return parseJson(decodeUtf8(bytes, start, end))
  return open === 0x5b ? parseArray(bytes, start, pieceBytes) : parseObject(bytes, start, pieceBytes)
}

/** Returns the object whose members were scanned. */
export function parseMembers(bytes: Uint8Array, members: ReadonlyMap<string, Span>): JsonObject {
  const out: JsonObject = {}
  for (const [name, { start, end }] of members) define(out, name, parseSpan(bytes, start, end))
  return out
}

/** Elements that are smaller than a piece are parsed together. */
function parseArray(bytes: Uint8Array, start: number, pieceBytes: number): Json[] {
  const out: Json[] = []
  let at = skipSpace(bytes, start + 1)
  let from = at
  while (bytes[at] !== 0x5d) {
    const end = skipValue(bytes, at)
    const isLarge = end - at > pieceBytes
    if (at > from && (isLarge || end - from > pieceBytes)) {
      appendElements(out, bytes, from, at)
      from = at
    }
    if (isLarge) out.push(parseSpan(bytes, at, end, pieceBytes))
    at = nextMember(bytes, end)
    if (isLarge) from = at
  }
  if (at > from) appendElements(out, bytes, from, at)
  return out
}

/** `end` is the offset after the last element, or after the comma that follows it. */
export function appendElements(out: Json[], bytes: Uint8Array, start: number, end: number): void {
  let last = end - 1
  while (bytes[last] === 0x20 || bytes[last] === 0x0a || bytes[last] === 0x0d || bytes[last] === 0x09) last--
  if (bytes[last] === 0x2c) last--
  for (const element of parseJson(`[${decodeUtf8(bytes, start, last + 1)}]`) as Json[]) out.push(element)
}

function parseObject(bytes: Uint8Array, start: number, pieceBytes: number): JsonObject {
  const out: JsonObject = {}
  for (let at = skipSpace(bytes, start + 1); bytes[at] !== 0x7d; ) {
    const keyEnd = skipString(bytes, at)
    const name = keyText(bytes, at, keyEnd)
    const value = skipSpace(bytes, skipSpace(bytes, keyEnd) + 1)
    const end = skipValue(bytes, value)
    define(out, name, parseSpan(bytes, value, end, pieceBytes))
    at = nextMember(bytes, end)
  }
  return out
}

export function define(out: JsonObject, name: string, value: Json): void {
  // An assignment to this name would set the prototype.
  if (name === '__proto__') Object.defineProperty(out, name, { value, writable: true, enumerable: true, configurable: true })
  else out[name] = value
}

function nextMember(bytes: Uint8Array, end: number): number {
  const at = skipSpace(bytes, end)
  return bytes[at] === 0x2c ? skipSpace(bytes, at + 1) : at
}
