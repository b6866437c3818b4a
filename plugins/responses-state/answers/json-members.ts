// Sets members of an object inside a JSON text. All other bytes stay as they are.
import { findSpan, findStart } from '../../../core/json/json-path.ts'
import { concatBytes, decodeUtf8, encodeUtf8 } from '../../../core/text/bytes.ts'
import type { Json } from '../../../core/types/request/canonical.ts'

/** @param owner path of the object. A member that is not there is put in front of the others. */
export function withMembers(text: string, owner: readonly string[], members: Readonly<Record<string, Json>>): string {
  const given = encodeUtf8(text)
  let bytes = given
  for (const [name, value] of Object.entries(members)) {
    const span = findSpan(bytes, 0, [...owner, name])
    const json = JSON.stringify(value)
    if (span !== null) {
      if (decodeUtf8(bytes, span.start, span.end) === json) continue
      bytes = concatBytes([bytes.subarray(0, span.start), encodeUtf8(json), bytes.subarray(span.end)])
      continue
    }
    const start = findStart(bytes, 0, owner)
    if (start === null || bytes[start] !== BRACE) continue
    const first = encodeUtf8(`${JSON.stringify(name)}:${json},`)
    bytes = concatBytes([bytes.subarray(0, start + 1), first, bytes.subarray(start + 1)])
  }
  return bytes === given ? text : decodeUtf8(bytes)
}

const BRACE = 0x7b
