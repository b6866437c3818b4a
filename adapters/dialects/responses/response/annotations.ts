// Converts citations between the wire annotations of output_text and canonical ones. Foreign ones are encoded only when this dialect has
// the kind (web pages and files).
import type { Annotation, Frozen, Json } from '../../../../core/types/request/canonical.ts'
import { isObject, loose } from '../../shared/fields.ts'

export function decodeAnnotation(raw: Json): Annotation | null {
  if (!isObject(raw)) return null
  const url = loose(raw.url)
  const title = loose(raw.title) || loose(raw.filename)
  return {
    kind: raw.type === 'url_citation' ? 'url' : 'file',
    ...(url === '' ? {} : { url }),
    ...(title === '' ? {} : { title }),
    ...(typeof raw.start_index === 'number' ? { start: raw.start_index } : {}),
    ...(typeof raw.end_index === 'number' ? { end: raw.end_index } : {}),
    raw,
    dialect: 'responses',
  }
}

/**
 * `length`: the length of the text; a citation without offsets applies to all of it. Returns null when this dialect does not have the
 * kind.
 */
export function encodeAnnotation(annotation: Frozen<Annotation>, length: number): Frozen<Json> | null {
  if (annotation.dialect === 'responses') return annotation.raw
  const { kind, url, title } = annotation
  if (url === undefined) return null
  // Offsets of documents and search results count in the cited text.
  const { start = 0, end = length } = kind === 'url' ? annotation : {}
  return {
    type: 'url_citation',
    start_index: start,
    end_index: end,
    url,
    title: title ?? url,
  }
}

/** Returns whether a citation applies to the whole text: it has no end of its own. */
export function isAboutAll({ dialect, kind, end }: Frozen<Annotation>): boolean {
  return dialect !== 'responses' && (kind !== 'url' || end === undefined)
}
