// Converts groundingMetadata to citations and back. Google counts bytes of the whole answer; the canonical form counts characters.
import { byteLength, decodeUtf8, encodeUtf8 } from '../../../../core/text/bytes.ts'
import type { Annotation, Frozen, Json, JsonObject } from '../../../../core/types/request/canonical.ts'
import { isObject, listField } from '../fields.ts'

/** Returns one annotation per (supported segment, web source). A source without segments applies to the whole answer. */
export function annotationsOf(metadata: Json | undefined, text: string): Annotation[] {
  if (!isObject(metadata)) return []
  const chunks = listField(metadata.groundingChunks)
  const supports = listField(metadata.groundingSupports).filter(isObject)
  const ascii = byteLength(text) === text.length
  const bytes = ascii ? null : encodeUtf8(text)
  const at = (offset: Json | undefined): number => {
    const position = typeof offset === 'number' && offset > 0 ? offset : 0
    return bytes === null ? Math.min(position, text.length) : decodeUtf8(bytes, 0, Math.min(position, bytes.length)).length
  }
  if (supports.length === 0) return chunks.flatMap((chunk) => source(chunk, { start: 0, end: text.length }, {}))
  return supports.flatMap((support) => {
    const segment = isObject(support.segment) ? support.segment : {}
    const span = { start: at(segment.startIndex), end: at(segment.endIndex) }
    return listField(support.groundingChunkIndices).flatMap((index) => source(chunks[Number(index)], span, segment))
  })
}

/** Returns the metadata for citations of another dialect's answer; undefined when none has a web address. */
export function groundingOf(annotations: readonly Frozen<Annotation>[], text: string): JsonObject | undefined {
  const chunks = new Map<string, { index: number; wire: JsonObject }>()
  const supports: JsonObject[] = []
  for (const { kind, url, title, start, end } of annotations) {
    if (url === undefined) continue
    const known = chunks.get(url) ?? {
      index: chunks.size,
      wire: { web: { uri: url, ...(title === undefined ? {} : { title }) } },
    }
    chunks.set(url, known)
    // Offsets of documents and search results count in the cited text.
    if (kind !== 'url' || start === undefined || end === undefined || end <= start) continue
    supports.push({
      segment: {
        startIndex: byteLength(text.slice(0, start)),
        endIndex: byteLength(text.slice(0, end)),
        text: text.slice(start, end),
      },
      groundingChunkIndices: [known.index],
    })
  }
  if (chunks.size === 0) return undefined
  const groundingChunks = [...chunks.values()].map((entry) => entry.wire)
  return { groundingChunks, ...(supports.length > 0 ? { groundingSupports: supports } : {}) }
}

function source(chunk: Json | undefined, span: { start: number; end: number }, segment: JsonObject): Annotation[] {
  const web = isObject(chunk) ? (chunk.web ?? chunk.retrievedContext ?? chunk.maps) : undefined
  if (!isObject(web) || typeof web.uri !== 'string') return []
  return [
    {
      kind: 'url',
      url: web.uri,
      ...(typeof web.title === 'string' ? { title: web.title } : {}),
      ...span,
      ...(typeof segment.text === 'string' ? { citedText: segment.text } : {}),
      raw: chunk as Json,
      dialect: 'generate_content',
    },
  ]
}
