// Encodes canonical media as inlineData or fileData. It fetches no URLs: the core has already inlined or refused remote ones
// (remote-media.ts).
import { GatewayError } from '../../../../core/errors/gateway-error.ts'
import type { Frozen, JsonObject, Part, Source } from '../../../../core/types/request/canonical.ts'
import type { CodecContext } from '../../../../core/types/request/dialect.ts'
import { parseDataUrl } from '../../shared/data-url.ts'
import { mimeOfAudio, mimeOfUrl, passesAsUri } from '../media.ts'

const FILES_API = 'https://generativelanguage.googleapis.com/v1beta/'

export type MediaPart =
  | Extract<Frozen<Part>, { t: 'image' | 'audio' | 'video' }>
  | (Extract<Frozen<Part>, { t: 'document' }> & { src: Frozen<Source> })

export function isMedia(part: Frozen<Part>): part is MediaPart {
  return part.t === 'image' || part.t === 'audio' || part.t === 'video' || (part.t === 'document' && 'kind' in part.src)
}

/** @throws GatewayError.unsupported for a source that Gemini cannot read. */
export function mediaPart(part: MediaPart, field: string, codec: CodecContext): JsonObject {
  const src = part.src
  const declared = declaredMime(part)
  if (src.kind === 'base64') return inline(src.mime || declared || 'application/octet-stream', src.data)
  if (src.kind === 'file') return file(fileUri(src, field, codec), declared)
  const uri = src.kind === 'url' ? src.url : src.uri
  const data = src.kind === 'url' ? parseDataUrl(uri) : null
  if (data !== null) return inline(data.mime, data.data)
  if (passesAsUri(uri)) return file(uri, src.mime ?? declared ?? mimeOfUrl(uri))
  if (/^https?:\/\//.test(uri) && codec.quirks.imageUrl === 'ok') return file(uri, src.mime ?? declared ?? mimeOfUrl(uri))
  throw GatewayError.unsupported(field, 'This target reads inline data and its own file URIs only, not other addresses.')
}

function declaredMime(part: MediaPart): string | undefined {
  if (part.t === 'audio') return mimeOfAudio(part.format)
  return part.t === 'document' ? part.mime : undefined
}

function fileUri(src: Extract<Frozen<Source>, { kind: 'file' }>, field: string, codec: CodecContext): string {
  const foreign = src.provider !== undefined && src.provider !== codec.provider
  if (!foreign && src.id.startsWith('files/')) return FILES_API + src.id
  if (!foreign && passesAsUri(src.id)) return src.id
  throw GatewayError.unsupported(field, 'A file stored at another provider cannot be read by this target.')
}

function inline(mimeType: string, data: string): JsonObject {
  return { inlineData: { mimeType, data } }
}

function file(uri: string, mime: string | undefined): JsonObject {
  return { fileData: { ...(mime === undefined ? {} : { mimeType: mime }), fileUri: uri } }
}
