// Texts of keys and short values that were read before: most bodies have the same ones.
import { decodeUtf8 } from '../text/bytes.ts'

const BACKSLASH = 0x5c
const KNOWN_KEYS = 256
const KNOWN_KEY_BYTES = 40

interface KnownText {
  readonly text: string
  readonly bytes: Uint8Array
}

/** Returns the text of the key between the quotes at `start` and before `end`. */
export function keyText(bytes: Uint8Array, start: number, end: number): string {
  const text = decodeUtf8(bytes, start + 1, end - 1)
  return text.includes('\\') ? (JSON.parse(`"${text}"`) as string) : text
}

const keys = new Map<number, KnownText>()

/** Returns the same as `keyText`, for a key without escapes whose hash is `hash`. */
export function knownKeyText(bytes: Uint8Array, hash: number, start: number, end: number): string {
  if (end - start > KNOWN_KEY_BYTES) return keyText(bytes, start, end)
  const key = keys.get(hash)
  if (key !== undefined && isSame(bytes, start + 1, end - 1, key.bytes)) return key.text
  const text = keyText(bytes, start, end)
  if (keys.size >= KNOWN_KEYS) keys.clear()
  keys.set(hash, { text, bytes: bytes.slice(start + 1, end - 1) })
  return text
}

/** Places of values; a value with another one's place replaces it. */
const PLACES = 64
const VALUE_BYTES = 40
const values: (KnownText | undefined)[] = new Array(PLACES)

/** Returns the text of a string between its quotes; null for a long one, or one with an escape or other than ASCII characters. */
export function knownValueText(bytes: Uint8Array, start: number, end: number): string | null {
  if (end - start > VALUE_BYTES) return null
  let hash = 0
  for (let at = start; at < end; at++) {
    const byte = bytes[at] as number
    if (byte === BACKSLASH || byte > 0x7e) return null
    hash = (Math.imul(hash, 31) + byte) | 0
  }
  const place = hash & (PLACES - 1)
  const known = values[place]
  if (known !== undefined && isSame(bytes, start, end, known.bytes)) return known.text
  const text = decodeUtf8(bytes, start, end)
  values[place] = { text, bytes: bytes.slice(start, end) }
  return text
}

function isSame(bytes: Uint8Array, start: number, end: number, key: Uint8Array): boolean {
  const { length } = key
  if (length !== end - start) return false
  for (let i = 0; i < length; i++) if (bytes[start + i] !== key[i]) return false
  return true
}
