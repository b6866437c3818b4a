// Images, documents and search results → canonical parts.
import type { DocumentPart, Json, JsonObject, Part, Source } from '../../../../core/types/canonical.ts'
import { booleanField, objectField, textField, wrongType } from '../../shared/fields.ts'
import { withExt } from '../response/part-ext.ts'

/** Decodes blocks inside a block. */
type Inner = (content: Json | undefined, at: string) => Part[]

const IMAGE_KEYS = new Set(['type', 'source', 'cache_control'])
const DOCUMENT_KEYS = new Set(['type', 'source', 'title', 'context', 'citations', 'cache_control'])
const SEARCH_KEYS = new Set(['title', 'content', 'citations', 'cache_control'])

export function decodeImage(block: JsonObject, at: string): Part {
  const source = objectField(block, 'source', `${at}.source`) ?? {}
  return withExt({ t: 'image', src: binarySource(source, `${at}.source`) }, block, IMAGE_KEYS)
}

export function decodeDocument(block: JsonObject, at: string, inner: Inner): Part {
  const wire = objectField(block, 'source', `${at}.source`) ?? {}
  const mime = textField(wire, 'media_type', `${at}.source.media_type`)
  const part: DocumentPart & Part = { t: 'document', src: documentSource(wire, `${at}.source`, inner) }
  if (mime !== undefined) part.mime = mime
  addTitle(part, block, at)
  const context = textField(block, 'context', `${at}.context`)
  if (context !== undefined) part.context = context
  return withExt(part, block, DOCUMENT_KEYS)
}

/** To other dialects a titled document; `ext` keeps what makes it a search result here. */
export function decodeSearchResult(block: JsonObject, at: string, inner: Inner): Part {
  const part: DocumentPart & Part = { t: 'document', src: { parts: inner(block.content, `${at}.content`) } }
  addTitle(part, block, at)
  const source = textField(block, 'source', `${at}.source`)
  if (source !== undefined) part.context = source
  return withExt(part, block, SEARCH_KEYS)
}

function addTitle(part: DocumentPart, block: JsonObject, at: string): void {
  const title = textField(block, 'title', `${at}.title`)
  const citations = objectField(block, 'citations', `${at}.citations`)
  if (title !== undefined) part.title = title
  const enabled = citations === undefined ? undefined : booleanField(citations, 'enabled', `${at}.citations.enabled`)
  if (enabled !== undefined) part.citations = enabled
}

function documentSource(wire: JsonObject, at: string, inner: Inner): DocumentPart['src'] {
  if (wire.type === 'text') return { text: textField(wire, 'data', `${at}.data`) ?? '' }
  if (wire.type === 'content') return { parts: inner(wire.content, `${at}.content`) }
  return binarySource(wire, at)
}

function binarySource(wire: JsonObject, at: string): Source {
  const type = textField(wire, 'type', `${at}.type`)
  if (type === 'base64') {
    return {
      kind: 'base64',
      data: textField(wire, 'data', `${at}.data`) ?? '',
      mime: textField(wire, 'media_type', `${at}.media_type`) ?? '',
    }
  }
  if (type === 'url') return { kind: 'url', url: textField(wire, 'url', `${at}.url`) ?? '' }
  if (type === 'file') return { kind: 'file', id: textField(wire, 'file_id', `${at}.file_id`) ?? '' }
  throw wrongType(`${at}.type`, '"base64", "url" or "file"')
}
