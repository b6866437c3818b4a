// Encodes canonical parts as input_text, input_image and input_file. It refuses audio, video, and files that another vendor stores.
import { entryOf } from '../../../../core/collections/entry-of.ts'
import { GatewayError } from '../../../../core/errors/gateway-error.ts'
import type { DocumentPart, Frozen, ImagePart, Json, Part, Source } from '../../../../core/types/request/canonical.ts'
import type { CodecContext } from '../../../../core/types/request/dialect.ts'
import { dataUrl } from '../../shared/data-url.ts'
import { historyField } from '../../shared/history-field.ts'

const EXTENSIONS: Readonly<Record<string, string>> = {
  'text/plain': 'txt',
  'text/markdown': 'md',
  'text/csv': 'csv',
  'text/html': 'html',
  'application/json': 'json',
}

/** Which file ids may be sent to this upstream: those of the two OpenAI dialects, or of the same provider. */
export interface ContentRules {
  codec: CodecContext
  ownFiles: boolean
}

export function encodeContent(parts: readonly Frozen<Part>[], rules: ContentRules): object[] {
  const out: object[] = []
  for (const part of parts) {
    const encoded = encodePart(part, rules)
    if (encoded.length > 0 && part.cache !== undefined && rules.codec.caps.cacheBreakpoints) {
      Object.assign(encoded[encoded.length - 1] as object, { prompt_cache_breakpoint: { mode: 'explicit' } })
    }
    out.push(...encoded)
  }
  return out
}

/** Encodes a tool's output: one string when it is only text, otherwise a list with native media. An error is described in text. */
export function encodeOutput(
  result: { parts: readonly Frozen<Part>[]; isError?: boolean; json?: Frozen<Json> },
  rules: ContentRules,
): string | object[] {
  const { parts, json } = result
  const plain = parts.every((part) => part.t === 'text' || part.t === 'refusal')
  if (plain) {
    const text =
      parts.length === 0 && json !== undefined
        ? JSON.stringify(json)
        : parts.map((part) => (part as { text: string }).text).join('\n')
    return result.isError ? asError(text) : text
  }
  const content = encodeContent(parts, rules)
  if (result.isError) content.unshift({ type: 'input_text', text: asError('') })
  return content
}

function asError(text: string): string {
  return /^\s*error/i.test(text) ? text : `Error: ${text}`.trimEnd()
}

function encodePart(part: Frozen<Part>, rules: ContentRules): object[] {
  switch (part.t) {
    case 'text':
    case 'refusal':
      return part.text === '' ? [] : [{ type: 'input_text', text: part.text }]
    case 'image':
      return [encodeImage(part, rules)]
    case 'document':
      return encodeDocument(part, rules)
    case 'audio':
    case 'video':
      throw GatewayError.unsupported(field(rules), `The responses format takes no ${part.t} input.`)
    case 'opaque':
      // An unknown content part of this dialect. Server items are encoded with the items.
      if (part.dialect === 'responses') return [part.raw as object]
      rules.codec.warn('dropped_content')
      return []
    default:
      return []
  }
}

function encodeImage(part: Frozen<ImagePart>, rules: ContentRules): object {
  if (rules.codec.caps.visionIn === false) throw GatewayError.unsupported(field(rules), 'This model takes no image input.')
  const detail = part.detail ?? 'auto'
  if (part.src.kind === 'file') return { type: 'input_image', file_id: fileId(part.src, rules), detail }
  return {
    type: 'input_image',
    image_url: part.src.kind === 'base64' ? dataUrl(part.src.mime, part.src.data) : webUrl(part.src, rules),
    detail,
  }
}

function encodeDocument(part: Frozen<DocumentPart>, rules: ContentRules): object[] {
  const { src } = part
  const head = [part.title, part.context].filter((text) => text !== undefined && text !== '')
  if ('text' in src) return [{ type: 'input_text', text: [...head, src.text].join('\n\n') }]
  if ('parts' in src) return [...head.map((text) => ({ type: 'input_text', text })), ...encodeContent(src.parts, rules)]
  const mime = src.kind === 'base64' ? src.mime : (part.mime ?? ('mime' in src ? src.mime : undefined))
  if (mime === 'application/pdf' && rules.codec.caps.pdfIn === false)
    throw GatewayError.unsupported(field(rules), 'This model takes no PDF input.')
  if (src.kind === 'file') return [{ type: 'input_file', file_id: fileId(src, rules) }]
  const filename = part.filename ?? part.title
  if (src.kind === 'base64') {
    const name = filename ?? `document.${entryOf(EXTENSIONS, src.mime) ?? 'pdf'}`
    return [{ type: 'input_file', file_data: dataUrl(src.mime, src.data), filename: name }]
  }
  return [{ type: 'input_file', file_url: webUrl(src, rules) }]
}

function fileId(src: Frozen<Extract<Source, { kind: 'file' }>>, rules: ContentRules): string {
  if (src.provider === undefined ? rules.ownFiles : src.provider === rules.codec.provider) return src.id
  throw GatewayError.unsupported(field(rules), 'A file stored with one provider cannot be sent to another.')
}

/** A `uri` with a web address can be read only by its own vendor, such as Google's Files API. */
function webUrl(src: Frozen<Extract<Source, { kind: 'url' | 'uri' }>>, rules: ContentRules): string {
  const url = src.kind === 'url' ? src.url : src.uri
  if (src.kind === 'url' ? /^(https?:|data:)/i.test(url) : /^data:/i.test(url)) return url
  throw GatewayError.unsupported(field(rules), 'Only public http(s) and data: URLs can be sent to this upstream.')
}

function field(rules: ContentRules): string {
  return historyField(rules.codec.caller)
}
