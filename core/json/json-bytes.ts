// Writes JSON as bytes. Long lists of objects are written one by one: a text of a megabyte costs V8 several times as much as the same in
// pieces.
import { concatBytes, encodeUtf8 } from '../text/bytes.ts'

/** A shorter list is written as one text. */
const LONG_LIST = 16
const PIECE_CHARS = 32 * 1024

/** Returns the bytes of `write(value)`; `write` is JSON.stringify, or writes each part of a value as it writes the whole. */
export function jsonBytes(
  value: Readonly<Record<string, unknown>>,
  write: (part: unknown) => string | undefined = JSON.stringify,
): Uint8Array {
  if (!Object.values(value).some(isLong)) return encodeUtf8(write(value) as string)
  const pieces: Uint8Array[] = []
  let text = '{'
  const add = (more: string) => {
    text += more
    if (text.length < PIECE_CHARS) return
    pieces.push(encodeUtf8(text))
    text = ''
  }
  let separator = ''
  for (const [name, member] of Object.entries(value)) {
    const list = isLong(member) ? member : null
    const written = list === null ? write(member) : ''
    if (written === undefined) continue
    add(`${separator}${JSON.stringify(name)}:${written}`)
    if (list !== null) {
      for (const [index, element] of list.entries()) add(`${index === 0 ? '[' : ','}${write(element) ?? 'null'}`)
      add(']')
    }
    separator = ','
  }
  pieces.push(encodeUtf8(`${text}}`))
  return concatBytes(pieces)
}

function isLong(member: unknown): member is readonly unknown[] {
  return Array.isArray(member) && member.length > LONG_LIST && typeof member[0] === 'object'
}
