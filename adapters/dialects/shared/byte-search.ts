// Looks into a body's bytes for what an edit would need. Most conversations need none, and decoding a megabyte to learn that would cost more
// than everything else that the gateway does with it.
import { skipSpace, skipValue } from '../../../core/json/json-scan.ts'
import { offsetOf } from '../../../core/text/bytes.ts'

/**
 * Returns whether the value of some member with this name passes the test. The name is ASCII, spelled without escapes; a name that is quoted
 * inside a text has a backslash before its quotes.
 */
export function someMember(bytes: Uint8Array, name: string, test: (bytes: Uint8Array, at: number) => boolean): boolean {
  const quoted = `"${name}"`
  for (let at = offsetOf(bytes, quoted, 0); at !== -1; at = offsetOf(bytes, quoted, at + quoted.length)) {
    const colon = skipSpace(bytes, at + quoted.length)
    if (bytes[colon] === 0x3a && test(bytes, skipSpace(bytes, colon + 1))) return true
  }
  return false
}

/** Returns whether the bytes at an offset are this ASCII text. */
export function startsWith(bytes: Uint8Array, at: number, text: string): boolean {
  if (at + text.length > bytes.length) return false
  for (let index = 0; index < text.length; index++) if (bytes[at + index] !== text.charCodeAt(index)) return false
  return true
}

/** Calls `visit` with the offsets of each element of an array that was scanned before. */
export function eachElement(bytes: Uint8Array, visit: (start: number, end: number, index: number) => void): void {
  let at = skipSpace(bytes, 1)
  for (let index = 0; bytes[at] !== 0x5d; index++) {
    const end = skipValue(bytes, at)
    visit(at, end, index)
    at = skipSpace(bytes, end)
    if (bytes[at] === 0x2c) at = skipSpace(bytes, at + 1)
  }
}
