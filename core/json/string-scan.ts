// Finds the end of a string in a JSON text. WebAssembly reads long strings, in a tenth of the time.
import { GatewayError } from '../errors/gateway-error.ts'
import { restOfString } from './wasm-scan.ts'

const QUOTE = 0x22
const BACKSLASH = 0x5c
/** The bytes of a string that are read here: most names and values are shorter. */
const HEAD_BYTES = 32
/** The same for a string that was scanned before: the platform looks for the quote of a longer one. */
const SKIPPED_BYTES = 128

/**
 * Checks the string whose opening quote is at `at`, and returns the offset after its closing quote. A string that is longer than `most`
 * is checked in parts: the result is then `~at` for `checkedRest`.
 * @throws GatewayError 400 for a control character, a bad escape, or a missing end.
 */
export function checkedString(bytes: Uint8Array, at: number, most = bytes.length): number {
  return checkedRest(bytes, at + 1, most)
}

/** Checks a string from a place inside it, as `checkedString` does. */
export function checkedRest(bytes: Uint8Array, from: number, most: number): number {
  const { length } = bytes
  let at = from
  for (;;) {
    const head = Math.min(at + HEAD_BYTES, length)
    while (at < head) {
      const byte = bytes[at] as number
      if (byte === QUOTE) return at + 1
      if (byte === BACKSLASH) at = afterEscape(bytes, at)
      else if (byte < 0x20) throw malformed(bytes, at)
      else at++
    }
    if (at >= length) throw malformed(bytes, length)
    if (at - from >= most) return ~at
    const end = restOfString(bytes, at, Math.min(length, from + most))
    if (end > 0) return end
    at = ~end
  }
}

function afterEscape(bytes: Uint8Array, at: number): number {
  const next = bytes[at + 1]
  if (next === 0x75) {
    for (let i = 2; i < 6; i++) if (!isHex(bytes[at + i])) throw malformed(bytes, at)
    return at + 6
  }
  if (next === undefined || ESCAPES[next] !== 1) throw malformed(bytes, at)
  return at + 2
}

const ESCAPES = new Uint8Array(256)
for (const byte of [0x22, 0x5c, 0x2f, 0x62, 0x66, 0x6e, 0x72, 0x74]) ESCAPES[byte] = 1

function isHex(byte: number | undefined): boolean {
  if (byte === undefined) return false
  return (byte >= 0x30 && byte <= 0x39) || ((byte | 0x20) >= 0x61 && (byte | 0x20) <= 0x66)
}

/** Returns the offset after the string at `at` of a text that was scanned before. */
export function skipString(bytes: Uint8Array, at: number): number {
  const head = Math.min(at + SKIPPED_BYTES, bytes.length)
  at++
  while (at < head) {
    const byte = bytes[at]
    if (byte === QUOTE) return at + 1
    at += byte === BACKSLASH ? 2 : 1
  }
  return longString(bytes, at)
}

function longString(bytes: Uint8Array, from: number): number {
  let at = from
  for (;;) {
    const quote = bytes.indexOf(QUOTE, at)
    if (quote === -1) throw malformed(bytes, bytes.length)
    let slashes = 0
    while (quote - 1 - slashes >= from && bytes[quote - 1 - slashes] === BACKSLASH) slashes++
    if (slashes % 2 === 0) return quote + 1
    at = quote + 1
  }
}

/** The 400 for a text that is no JSON, with the place. */
export function malformed(bytes: Uint8Array, at: number, detail?: string): GatewayError {
  const where = at >= bytes.length ? 'it ends too early' : `byte ${at}`
  return GatewayError.invalid(null, `The body is not valid JSON (${detail ? `${detail}; ` : ''}${where}).`)
}
