// Citations: the wire annotations of output_text and the canonical ones. Foreign ones are sent only where this dialect
// has a kind for them (web pages and files).
import type { Annotation, Frozen, Json } from '../../../../core/types/canonical.ts'
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

/** `length`: of the text it belongs to, all of which a citation without offsets is about. Null when there is no such kind here. */
export function encodeAnnotation(annotation: Frozen<Annotation>, length: number): Frozen<Json> | null {
  if (annotation.dialect === 'responses') return annotation.raw
  const { kind, url, title } = annotation
  if (url === undefined) return null
  // Those of documents and search results count in what is cited.
  const { start = 0, end = length } = kind === 'url' ? annotation : {}
  return {
    type: 'url_citation',
    start_index: start,
    end_index: end,
    url,
    title: title ?? url,
  }
}

/** It ends where the text does. */
export function isAboutAll({ dialect, kind, end }: Frozen<Annotation>): boolean {
  return dialect !== 'responses' && (kind !== 'url' || end === undefined)
}
