// Converts citations of text blocks to canonical annotations and back. Only this dialect's own can be encoded again, because they carry
// opaque indexes.
import { entryOf } from '../../../../core/collections/entry-of.ts'
import type { Annotation, Frozen, Json, JsonObject } from '../../../../core/types/request/canonical.ts'
import { isObject } from '../../shared/fields.ts'

const KINDS: Readonly<Record<string, Annotation['kind']>> = {
  char_location: 'char',
  page_location: 'page',
  content_block_location: 'block',
  web_search_result_location: 'url',
  search_result_location: 'search_result',
}

/** Returns null for an unknown kind of citation. */
export function decodeCitation(raw: Json): Annotation | null {
  if (!isObject(raw) || typeof raw.type !== 'string') return null
  const kind = entryOf(KINDS, raw.type)
  if (kind === undefined) return null
  const out: Annotation = { kind, raw, dialect: 'messages' }
  const url = text(raw, 'url', 'source')
  const title = text(raw, 'title', 'document_title')
  const citedText = text(raw, 'cited_text')
  const start = number(raw, 'start_char_index', 'start_page_number', 'start_block_index')
  const end = number(raw, 'end_char_index', 'end_page_number', 'end_block_index')
  if (url !== undefined) out.url = url
  if (title !== undefined) out.title = title
  if (citedText !== undefined) out.citedText = citedText
  if (start !== undefined) out.start = start
  if (end !== undefined) out.end = end
  return out
}

/** Returns `citations` of a text block; undefined when there are none, because strict clients refuse `null`. */
export function encodeCitations(annotations: Frozen<Annotation[]> | undefined): Json[] | undefined {
  const own = (annotations ?? [])
    .filter((annotation) => annotation.dialect === 'messages')
    .map((annotation) => annotation.raw as Json)
  return own.length === 0 ? undefined : own
}

function text(raw: JsonObject, ...keys: string[]): string | undefined {
  for (const key of keys) if (typeof raw[key] === 'string') return raw[key]
  return undefined
}

function number(raw: JsonObject, ...keys: string[]): number | undefined {
  for (const key of keys) if (typeof raw[key] === 'number') return raw[key]
  return undefined
}
