// Encodes canonical parts as content of a chat message: a string when there is only text, otherwise an array of parts.
import { entryOf } from '../../../../core/collections/entry-of.ts'
import { GatewayError } from '../../../../core/errors/gateway-error.ts'
import { base64Decode } from '../../../../core/text/bytes.ts'
import type { DocumentPart, Frozen, JsonObject, Part } from '../../../../core/types/request/canonical.ts'
import type { CodecContext } from '../../../../core/types/request/dialect.ts'
import { dataUrl } from '../../shared/data-url.ts'
import { historyField } from '../../shared/history-field.ts'
import { isObject, text } from '../read.ts'
import { cacheFields } from './cache-marks.ts'

/** Separates the text parts of one system, developer or tool message. */
export const PART_SEPARATOR = '\n'

type AnyPart = Frozen<Part>

/** Returns user content; null when nothing is left. `own`: the caller speaks chat, so its arrays stay arrays. */
export function userContent(parts: readonly AnyPart[], own: boolean, codec: CodecContext): string | JsonObject[] | null {
  const bare = own && parts.length > 1 ? null : bareText(parts, PART_SEPARATOR)
  if (bare !== null) return bare === '' ? null : bare
  const wire = parts.flatMap((part) => wireParts(part, own, codec))
  if (wire.length === 0) return null
  const plain = wire.every((part) => part.type === 'text' && Object.keys(part).length === 2)
  if (plain && (!own || wire.length === 1)) return wire.map((part) => part.text).join(PART_SEPARATOR)
  return wire
}

// Documents on the chat wire: text is inlined, PDFs are sent as `file` when the provider supports it.
type Document = Frozen<DocumentPart>

/** Returns whether a document's content is text (or parts), which needs no file support. */
function isInlineDocument(part: Frozen<Part>): part is Document & Frozen<Part> {
  if (part.t !== 'document') return false
  const { src } = part
  return 'text' in src || 'parts' in src || (src.kind === 'base64' && isText(part.mime ?? src.mime))
}

function documentParts(
  part: Document,
  own: boolean,
  codec: CodecContext,
  encode: (part: Frozen<Part>) => JsonObject[],
): JsonObject[] {
  const { src } = part
  if ('text' in src) return [titled(part, src.text)]
  if ('parts' in src) {
    const inner = src.parts.flatMap(encode)
    return part.title === undefined && part.context === undefined ? inner : [titled(part, ''), ...inner]
  }
  if (src.kind === 'file') return [fileId(part, src, own, codec)]
  if (src.kind === 'url' || src.kind === 'uri') {
    // OpenRouter and others accept a URL in file_data. A URL from another dialect must be fetched first.
    if (!own) throw GatewayError.unsupported(historyField(codec.caller), 'This target takes documents only inline.')
    return [file(part, src.kind === 'url' ? src.url : src.uri)]
  }
  const mime = part.mime ?? src.mime
  const content = isText(mime) ? base64Decode(src.data.replace(/\s/g, '')) : null
  if (content !== null) return [titled(part, content)]
  if (!(codec.caps.pdfIn ?? codec.quirks.pdf ?? own))
    throw GatewayError.unsupported(historyField(codec.caller), 'This target takes no documents but text.')
  return [file(part, dataUrl(mime, src.data))]
}

function isText(mime: string): boolean {
  return mime.startsWith('text/') || /^application\/(?:json|xml|yaml|x-yaml|csv|markdown|javascript|toml)(?:$|;)/.test(mime)
}

function titled(part: Document, content: string): JsonObject {
  const head = [part.title ?? part.filename, part.context].filter((line) => line !== undefined && line !== '')
  return { type: 'text', text: [...head, content].filter((line) => line !== '').join('\n') }
}

function file(part: Document, data: string): JsonObject {
  const name =
    part.filename ??
    (part.title === undefined ? 'document.pdf' : /\.[a-z0-9]{2,5}$/i.test(part.title) ? part.title : `${part.title}.pdf`)
  return { type: 'file', file: { filename: name, file_data: data } }
}

/** An uploaded file exists at one provider only. */
function fileId(
  part: Document,
  src: { readonly id: string; readonly provider?: string },
  own: boolean,
  codec: CodecContext,
): JsonObject {
  const same = src.provider === undefined ? own : src.provider === codec.provider
  if (!same) throw GatewayError.unsupported(historyField(codec.caller), 'The file was uploaded to another provider.')
  return { type: 'file', file: { file_id: src.id, ...(part.filename === undefined ? {} : { filename: part.filename }) } }
}

/** Returns the content of an instruction: joined text, or parts when they carry marks that the target supports. */
export function textContent(
  parts: readonly AnyPart[],
  keepParts: boolean,
  separator: string,
  codec: CodecContext,
): string | JsonObject[] {
  const bare = bareText(parts, separator)
  if (bare !== null) return bare
  const texts = parts.flatMap((part) => (part.t === 'text' || isInlineDocument(part) ? wireParts(part, false, codec) : []))
  const marked = texts.some((part) => Object.keys(part).length > 2)
  return marked && keepParts ? texts : texts.map((part) => part.text as string).join(separator)
}

/** Fast path for most messages: joins plain text without marks or unknown members. Returns null for other parts. */
export function bareText(parts: readonly AnyPart[], separator: string): string | null {
  let joined = ''
  for (const part of parts) {
    if (part.t !== 'text' || part.ext !== undefined || part.cache !== undefined) return null
    if (part.text !== '') joined = joined === '' ? part.text : joined + separator + part.text
  }
  return joined
}

/** Returns whether a part cannot be in a tool message. */
export function isMedia(part: AnyPart): boolean {
  return part.t === 'image' || part.t === 'audio' || part.t === 'video' || (part.t === 'document' && !isInlineDocument(part))
}

/** @throws GatewayError unsupported for a part that the chat wire or this target cannot carry. */
export function wireParts(part: AnyPart, own: boolean, codec: CodecContext): JsonObject[] {
  const wire = bareParts(part, own, codec)
  const last = wire.at(-1)
  // A mark ends the cached prefix, so the last piece gets it.
  if (last !== undefined) Object.assign(last, part.ext?.chat, cacheFields(part.cache, codec))
  return wire
}

function bareParts(part: AnyPart, own: boolean, codec: CodecContext): JsonObject[] {
  switch (part.t) {
    case 'text':
      return part.text === '' ? [] : [{ type: 'text', text: part.text }]
    case 'refusal':
      return [{ type: 'text', text: part.text }]
    case 'image':
      return [imagePart(part, own, codec)]
    case 'audio':
      return [audioPart(part, own, codec)]
    case 'video':
      if (!own || !('url' in part.src || 'data' in part.src || 'uri' in part.src))
        throw GatewayError.unsupported(historyField(codec.caller), 'This target takes no video.')
      return [{ type: 'video_url', video_url: { url: sourceUrl(part.src) } }]
    case 'document':
      return documentParts(part, own, codec, (inner) => wireParts(inner, own, codec))
    case 'opaque':
      if (part.dialect === 'chat') return [{ ...(part.raw as JsonObject) }]
      return searchResult(part.raw)
    default:
      return []
  }
}

function imagePart(part: Extract<AnyPart, { t: 'image' }>, own: boolean, codec: CodecContext): JsonObject {
  if (codec.caps.visionIn === false) throw GatewayError.unsupported(historyField(codec.caller), 'This model takes no images.')
  const { src } = part
  const remote = src.kind === 'url' || src.kind === 'uri'
  if (src.kind === 'file' || (src.kind === 'uri' && !own))
    throw GatewayError.unsupported(historyField(codec.caller), 'This target takes images only by URL or inline.')
  if (remote && codec.quirks.imageUrl === 'inline')
    throw GatewayError.unsupported(historyField(codec.caller), 'This provider takes images only inline.')
  const detail = part.detail === 'original' ? 'high' : part.detail
  return { type: 'image_url', image_url: { url: sourceUrl(src), ...(detail === undefined ? {} : { detail }) } }
}

function audioPart(part: Extract<AnyPart, { t: 'audio' }>, own: boolean, codec: CodecContext): JsonObject {
  if (part.src.kind !== 'base64' || codec.caps.audioIn === false)
    throw GatewayError.unsupported(historyField(codec.caller), 'This target takes audio only inline, if at all.')
  const format = entryOf(AUDIO_FORMATS, part.format) ?? entryOf(AUDIO_FORMATS, part.src.mime.replace('audio/', '')) ?? part.format
  if (!own && format !== 'wav' && format !== 'mp3')
    throw GatewayError.unsupported(historyField(codec.caller), 'This target takes audio only as wav or mp3.')
  return { type: 'input_audio', input_audio: { data: part.src.data, format } }
}

const AUDIO_FORMATS: Readonly<Record<string, string>> = { wav: 'wav', wave: 'wav', 'x-wav': 'wav', mp3: 'mp3', mpeg: 'mp3' }

function sourceUrl(src: Extract<AnyPart, { t: 'image' }>['src']): string {
  if (src.kind === 'base64') return dataUrl(src.mime, src.data)
  return src.kind === 'url' ? src.url : src.kind === 'uri' ? src.uri : src.id
}

/** Returns the text of a `search_result` block of the messages dialect, with title and source. Chat cannot express other foreign parts. */
function searchResult(raw: unknown): JsonObject[] {
  if (!isObject(raw) || raw.type !== 'search_result' || !Array.isArray(raw.content)) return []
  const body = raw.content.map((block) => (isObject(block) ? (text(block.text) ?? '') : '')).join('\n')
  const head = [text(raw.title), text(raw.source)].filter((line) => line !== undefined)
  return [{ type: 'text', text: [...head, body].join('\n') }]
}
