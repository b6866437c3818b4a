// Finds the end of a string in a JSON text. Long strings are read in words of four bytes, which takes a third of the time.
import { GatewayError } from '../errors/gateway-error.ts'

const QUOTE = 0x22
const BACKSLASH = 0x5c
/** The bytes of a string before the first read in words: most names and values are shorter. */
const HEAD_BYTES = 128
/** After so many words without a find, the string is likely base64 or another plain text of some length. */
const PLAIN_WORDS = 64
/** The platform then searches so many times as many words as were plain: a text with a find here and there is not searched to its end. */
const FURTHER = 16
/** A shorter text is read in bytes only. */
const WORDS_FROM_BYTES = 512
const LITTLE_ENDIAN = new Uint8Array(new Uint32Array([1]).buffer)[0] === 1
const NO_WORDS = new Int32Array(0)

/** Returns the aligned words of a text, for `checkedString`. */
export function wordsOf(bytes: Uint8Array): Int32Array {
  const { length, byteOffset, buffer } = bytes
  if (length < WORDS_FROM_BYTES || !LITTLE_ENDIAN) return NO_WORDS
  const start = (byteOffset + 3) & ~3
  return new Int32Array(buffer, start, (byteOffset + length - start) >> 2)
}

/**
 * Checks the string whose opening quote is at `at`, and returns the offset after its closing quote. A string that is longer than `most`
 * is checked in parts: the result is then `~at` for `checkedRest`.
 * @throws GatewayError 400 for a control character, a bad escape, or a missing end.
 */
export function checkedString(bytes: Uint8Array, at: number, words: Int32Array, most = bytes.length): number {
  const end = Math.min(at + HEAD_BYTES, bytes.length)
  at++
  while (at < end) {
    const byte = bytes[at] as number
    if (byte === QUOTE) return at + 1
    if (byte === BACKSLASH) at = afterEscape(bytes, at)
    else if (byte < 0x20) throw malformed(bytes, at)
    else at++
  }
  return checkedRest(bytes, at, words, most)
}

/** Checks a string from a place inside it, as `checkedString` does. */
export function checkedRest(bytes: Uint8Array, from: number, words: Int32Array, most: number): number {
  const first = words.byteOffset - bytes.byteOffset
  let at = from
  let index = (at - first) >> 2
  /** Leaves out the bytes of the word that were read before. */
  let unread = -1 << (((at - first) & 3) << 3)
  const stop = Math.min(words.length, index + (most >> 2))
  let plainFrom = index
  let leap = index + PLAIN_WORDS
  while (index < stop) {
    const word = words[index] as number
    // A quote, a backslash and a byte below 0x20 each set the high bit of their byte; `~word` removes bytes that had it before.
    const found =
      ((word - 0x20202020) | ((word ^ 0x22222222) - 0x01010101) | ((word ^ 0x5c5c5c5c) - 0x01010101)) &
      ~word &
      0x80808080 &
      unread
    if (found === 0) {
      index++
      unread = -1
      if (index === leap) {
        index = afterPlainWords(bytes, words, index, Math.min(stop, index + FURTHER * (index - plainFrom)))
        leap = index + PLAIN_WORDS
      }
      continue
    }
    // The lowest bit is exact. A bit above it may be a carry, so the byte decides.
    at = first + 4 * index + ((31 - Math.clz32(found & -found)) >> 3)
    const byte = bytes[at] as number
    if (byte === QUOTE) return at + 1
    if (byte === BACKSLASH) at = afterEscape(bytes, at)
    else if (byte < 0x20) throw malformed(bytes, at)
    else at++
    index = (at - first) >> 2
    plainFrom = index
    leap = index + PLAIN_WORDS
    unread = -1 << (((at - first) & 3) << 3)
  }
  at = Math.max(at, first + 4 * index)
  if (index < words.length) return ~at
  while (at < bytes.length) {
    const byte = bytes[at] as number
    if (byte === QUOTE) return at + 1
    if (byte === BACKSLASH) at = afterEscape(bytes, at)
    else if (byte < 0x20) throw malformed(bytes, at)
    else at++
  }
  throw malformed(bytes, bytes.length)
}

/**
 * Returns the index after words that have no quote, no backslash and no control character. The platform looks for the first two, so that
 * only the third takes a step for each word.
 */
function afterPlainWords(bytes: Uint8Array, words: Int32Array, from: number, stop: number): number {
  const first = words.byteOffset - bytes.byteOffset
  const rest = bytes.subarray(first + 4 * from, first + 4 * stop)
  const quote = rest.indexOf(QUOTE)
  const text = quote === -1 ? rest : rest.subarray(0, quote)
  const backslash = text.indexOf(BACKSLASH)
  const end = from + ((backslash === -1 ? text.length : backslash) >> 2)
  let index = from
  for (; index + 4 <= end; index += 4) {
    const a = words[index] as number
    const b = words[index + 1] as number
    const c = words[index + 2] as number
    const d = words[index + 3] as number
    const found = ((a - 0x20202020) & ~a) | ((b - 0x20202020) & ~b) | ((c - 0x20202020) & ~c) | ((d - 0x20202020) & ~d)
    if ((found & 0x80808080) !== 0) break
  }
  return index
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
  const head = Math.min(at + HEAD_BYTES, bytes.length)
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
