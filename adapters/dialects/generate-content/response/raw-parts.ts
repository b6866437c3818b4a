// Returns the exact JSON text of single parts, for arguments that parsing would change. It splits the contents and each content only
// once, so a history with many such calls costs one pass instead of one per call.
import { rawAt } from '../../../../core/json/json-path.ts'
import { skipSpace, skipValue } from '../../../../core/json/json-scan.ts'
import { decodeUtf8, encodeUtf8 } from '../../../../core/text/bytes.ts'
import type { WireBody } from '../../../../core/types/request/dialect.ts'

export interface RawParts {
  /** Returns the text at the first of `paths` that exists below part `place` of content `turn`. */
  at(turn: number, place: number, paths: readonly (readonly string[])[]): string | undefined
}

export function rawParts(body: WireBody): RawParts {
  let contents: string[] | null = null
  const parts = new Map<number, string[]>()

  return {
    at(turn, place, paths) {
      contents ??= elements(body.raw('contents') ?? '[]')
      let texts = parts.get(turn)
      if (texts === undefined) {
        texts = elements(rawAt(contents[turn] ?? '{}', ['parts']) ?? '[]')
        parts.set(turn, texts)
      }
      const text = texts[place]
      if (text === undefined) return undefined
      for (const path of paths) {
        const found = rawAt(text, path)
        if (found !== undefined) return found
      }
      return undefined
    },
  }
}

/** Returns the elements of a JSON array as text; any other value counts as a list of one. */
function elements(text: string): string[] {
  const bytes = encodeUtf8(text)
  let at = skipSpace(bytes, 0)
  if (bytes[at] !== 0x5b) return [text]
  const out: string[] = []
  at = skipSpace(bytes, at + 1)
  while (at < bytes.length && bytes[at] !== 0x5d) {
    const end = skipValue(bytes, at)
    out.push(decodeUtf8(bytes, at, end))
    at = skipSpace(bytes, end)
    if (bytes[at] === 0x2c) at = skipSpace(bytes, at + 1)
  }
  return out
}
