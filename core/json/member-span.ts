// Returns the byte range to remove for one member or element: its key, the colon, and one comma.
import { skipSpace } from './json-scan.ts'
import type { Span } from './member.ts'

/** @param ownerStart start of the object or array that contains it; the text has been scanned before. */
export function memberSpan(bytes: Uint8Array, ownerStart: number, valueStart: number, valueEnd: number): Span {
  let start = valueStart
  if (bytes[ownerStart] === 0x7b) {
    start--
    while (bytes[start] !== 0x3a) start--
    start--
    while (bytes[start] !== 0x22) start--
    do start--
    while (bytes[start] !== 0x22 || escapedAt(bytes, start))
  }
  let end = skipSpace(bytes, valueEnd)
  if (bytes[end] === 0x2c) end = skipSpace(bytes, end + 1)
  else {
    while (start > ownerStart + 1 && isSpace(bytes[start - 1])) start--
    if (bytes[start - 1] === 0x2c) start--
  }
  return { start, end }
}

function isSpace(byte: number | undefined): boolean {
  return byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09
}

function escapedAt(bytes: Uint8Array, at: number): boolean {
  let slashes = 0
  while (bytes[at - 1 - slashes] === 0x5c) slashes++
  return slashes % 2 === 1
}
