// Documents on the chat wire: text goes inline, PDFs as `file` where the provider has it.
import { GatewayError } from '../../../../core/errors/gateway-error.ts'
import { base64Decode } from '../../../../core/text/bytes.ts'
import type { DocumentPart, Frozen, JsonObject, Part } from '../../../../core/types/canonical.ts'
import type { CodecContext } from '../../../../core/types/dialect.ts'
import { dataUrl } from '../../shared/data-url.ts'
import { historyField } from '../../shared/history-field.ts'

type Document = Frozen<DocumentPart>

/** True for a document whose content is text (or parts), which needs no file support. */
export function isInlineDocument(part: Frozen<Part>): part is Document & Frozen<Part> {
  if (part.t !== 'document') return false
  const { src } = part
  return 'text' in src || 'parts' in src || (src.kind === 'base64' && isText(part.mime ?? src.mime))
}

export function documentParts(
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
    // OpenRouter and others read a URL in file_data; a foreign caller's URL has to be fetched before.
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
