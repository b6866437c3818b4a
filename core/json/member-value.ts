// Reads the value of a scanned member. The scan has checked the grammar, so the first byte of a literal identifies it.
import { decodeUtf8 } from '../text/bytes.ts'
import type { Json } from '../types/request/canonical.ts'
import { knownValueText } from './known-texts.ts'
import type { Member } from './member.ts'
import { PIECE_BYTES, parseJson, parseSpan } from './parse-span.ts'

/** Returns the value. */
export function memberValue(bytes: Uint8Array, member: Member): Json {
  const { start, end } = member
  const first = bytes[start]
  if (first === 0x74) return true
  if (first === 0x66) return false
  if (first === 0x6e) return null
  const known = first === 0x22 ? knownValueText(bytes, start + 1, end - 1) : null
  if (known !== null) return known
  if (end - start > PIECE_BYTES) return parseSpan(bytes, start, end)
  member.text ??= decodeUtf8(bytes, start, end)
  const { text } = member
  if (first === 0x22 && !text.includes('\\')) return text.slice(1, -1)
  return parseJson(text)
}
