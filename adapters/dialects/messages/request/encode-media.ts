// Canonical images and documents → blocks. Base64 and http(s) URLs travel; audio, video and foreign file ids are refused.
import { GatewayError } from '../../../../core/errors/gateway-error.ts'
import { base64Decode } from '../../../../core/text/bytes.ts'
import type { DocumentPart, Frozen, JsonObject, Part, Source } from '../../../../core/types/canonical.ts'
import type { Block } from '../response/block.ts'

export interface MediaContext {
  /** Named in refusals: the caller's name for the conversation. */
  field: string
  /** The caller speaks this dialect: file ids are the vendor's own. */
  own: boolean
  /** Citations may be asked for: not together with structured output (golden 96). */
  citations: boolean
  warn(slug: string): void
  /** Encodes the parts of a document made of blocks. */
  inner(parts: readonly Frozen<Part>[]): Block[]
}

const IMAGES: ReadonlySet<string> = new Set(['image/jpeg', 'image/png', 'image/gif', 'image/webp'])

export function imageBlock(src: Frozen<Source>, context: MediaContext): Block {
  if (src.kind === 'base64') {
    const mime = src.mime.toLowerCase() === 'image/jpg' ? 'image/jpeg' : src.mime.toLowerCase()
    if (!IMAGES.has(mime))
      throw GatewayError.unsupported(context.field, `This target does not read images of type \`${src.mime.slice(0, 100)}\`.`)
    return { type: 'image', source: { type: 'base64', media_type: mime, data: src.data } }
  }
  return { type: 'image', source: remote(src, context) }
}

export function documentBlock(part: Frozen<DocumentPart & Part>, context: MediaContext): Block | null {
  const { type: kind, ...ext } = (part.ext?.messages ?? {}) as JsonObject
  const title = part.title ?? part.filename
  if (kind === 'search_result' && 'parts' in part.src) {
    return {
      ...ext,
      type: 'search_result',
      title: title ?? '',
      content: context.inner(part.src.parts),
      ...citations(part, context),
    }
  }
  const source = documentSource(part, context)
  if (source === null) return null
  return {
    ...ext,
    type: 'document',
    source,
    ...(title === undefined || title === '' ? {} : { title }),
    ...(part.context === undefined || part.context === '' ? {} : { context: part.context }),
    ...citations(part, context),
  }
}

function citations(part: Frozen<DocumentPart>, context: MediaContext): Block {
  if (part.citations === undefined) return {}
  if (!context.citations && part.citations) {
    context.warn('dropped_citations')
    return {}
  }
  return { citations: { enabled: part.citations } }
}

/** Null for a document without any content. */
function documentSource(part: Frozen<DocumentPart>, context: MediaContext): Block | null {
  const { src } = part
  if ('text' in src) return textSource(src.text)
  if ('parts' in src) {
    const content = context.inner(src.parts)
    return content.length === 0 ? null : { type: 'content', content }
  }
  const mime = (('mime' in src ? src.mime : undefined) ?? part.mime ?? '').toLowerCase()
  if (src.kind === 'base64') {
    if (mime === 'application/pdf') return { type: 'base64', media_type: mime, data: src.data }
    const text = isText(mime) ? base64Decode(src.data) : null
    if (text !== null) return textSource(text)
    throw GatewayError.unsupported(context.field, `This target does not read files of type \`${mime.slice(0, 100)}\`.`)
  }
  if (mime !== '' && mime !== 'application/pdf' && src.kind !== 'file') {
    throw GatewayError.unsupported(context.field, `This target reads only PDF files by URL, not \`${mime.slice(0, 100)}\`.`)
  }
  return remote(src, context)
}

function textSource(data: string): Block | null {
  return data.trim() === '' ? null : { type: 'text', media_type: 'text/plain', data }
}

function isText(mime: string): boolean {
  return (
    mime.startsWith('text/') ||
    /^application\/(?:json|xml|x-ndjson|yaml|x-yaml|javascript|sql)$/.test(mime) ||
    mime.endsWith('+json') ||
    mime.endsWith('+xml')
  )
}

function remote(src: Frozen<Source>, context: MediaContext): Block {
  if (src.kind === 'file') {
    if (!context.own)
      throw GatewayError.unsupported(
        context.field,
        'A file id belongs to the vendor that stores the file; send the content itself.',
      )
    return { type: 'file', file_id: src.id }
  }
  // A `uri` is an address that only its own vendor can read, like Google's Files API.
  const url = src.kind === 'url' ? src.url : ''
  if (!/^https?:\/\//i.test(url))
    throw GatewayError.unsupported(context.field, 'This target reads only http(s) URLs and inline data.')
  return { type: 'url', url }
}
