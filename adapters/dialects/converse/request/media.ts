// Images and documents: Bedrock takes them inline only, and names their format with a word of its own.
import { GatewayError } from '../../../../core/errors/gateway-error.ts'
import { base64Encode } from '../../../../core/text/bytes.ts'
import type { CanonicalRequest, DocumentPart, Frozen, ImagePart, Part, Source } from '../../../../core/types/request/canonical.ts'
import { historyField } from '../../shared/history-field.ts'

type Block = Record<string, unknown>
type Inlined = ReadonlyMap<string, { mime: string; data: string }>

const IMAGES: Readonly<Record<string, string>> = {
  'image/png': 'png',
  'image/jpeg': 'jpeg',
  'image/jpg': 'jpeg',
  'image/gif': 'gif',
  'image/webp': 'webp',
}
const DOCUMENTS: Readonly<Record<string, string>> = {
  'application/pdf': 'pdf',
  'text/csv': 'csv',
  'application/msword': 'doc',
  'application/vnd.openxmlformats-officedocument.wordprocessingml.document': 'docx',
  'application/vnd.ms-excel': 'xls',
  'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet': 'xlsx',
  'text/html': 'html',
  'text/plain': 'txt',
  'text/markdown': 'md',
}

/** Returns the URLs in the history that have to be fetched. */
export function remoteMedia({ messages }: Frozen<CanonicalRequest>): string[] {
  const urls = new Set<string>()
  const visit = (parts: readonly Frozen<Part>[]): void => {
    for (const part of parts) {
      if (part.t === 'tool_result') visit(part.parts)
      else if (part.t === 'document' && 'parts' in part.src) visit(part.src.parts)
      else if ((part.t === 'image' || part.t === 'document') && 'kind' in part.src && part.src.kind === 'url')
        urls.add(part.src.url)
    }
  }
  for (const { role, parts } of messages) if (role !== 'assistant') visit(parts)
  return [...urls]
}

/** Returns the request with the data in place of these URLs. */
export function inlineMedia(request: Frozen<CanonicalRequest>, byUrl: Inlined): CanonicalRequest {
  const source = <S>(src: S): S => {
    const given = src as Source
    const found = given.kind === 'url' ? byUrl.get(given.url) : undefined
    return found === undefined ? src : ({ kind: 'base64', ...found } as S)
  }
  const inlined = (part: Frozen<Part>): Frozen<Part> => {
    if (part.t === 'tool_result') return { ...part, parts: part.parts.map(inlined) }
    if (part.t === 'image') return { ...part, src: source(part.src) }
    if (part.t !== 'document') return part
    if ('parts' in part.src) return { ...part, src: { parts: part.src.parts.map(inlined) } }
    return 'kind' in part.src ? { ...part, src: source(part.src) } : part
  }
  const messages = request.messages.map((message) => ({ ...message, parts: message.parts.map(inlined) }))
  return { ...request, messages } as CanonicalRequest
}

/** @throws GatewayError.unsupported for a type that Bedrock does not read. */
export function imageBlock({ src }: Frozen<ImagePart>, request: Frozen<CanonicalRequest>): Block {
  const format = src.kind === 'base64' ? IMAGES[src.mime.toLowerCase()] : undefined
  if (src.kind !== 'base64' || format === undefined) throw unreadable('image', src, request)
  return { image: { format, source: { bytes: src.data } } }
}

/** @param count numbers the documents of a request, because two may not have the same name. */
export function documentBlock(part: Frozen<DocumentPart>, count: number, request: Frozen<CanonicalRequest>): Block {
  const { src } = part
  const name = documentName(part, count)
  if ('text' in src) return { document: { format: 'txt', name, source: { bytes: base64Encode(src.text) } } }
  if ('parts' in src) {
    const text = src.parts.map((inner) => (inner.t === 'text' ? inner.text : '')).join('\n')
    return { document: { format: 'txt', name, source: { bytes: base64Encode(text) } } }
  }
  const mime = ((src.kind === 'base64' ? src.mime : part.mime) ?? '').toLowerCase().split(';', 1)[0] as string
  const format = DOCUMENTS[mime]
  if (src.kind !== 'base64' || format === undefined) throw unreadable('file', src, request)
  return { document: { format, name, source: { bytes: src.data } } }
}

/** Bedrock allows letters, digits, single spaces, hyphens, parentheses and brackets. */
function documentName({ title, filename }: Frozen<DocumentPart>, count: number): string {
  const given = (title ?? filename ?? '').replace(/[^a-zA-Z0-9()[\]-]+/g, ' ').trim()
  return `${given === '' ? 'document' : given.slice(0, 150)} ${count}`
}

function unreadable(what: string, src: Frozen<Source>, request: Frozen<CanonicalRequest>): GatewayError {
  const type = src.kind === 'base64' ? `of type \`${src.mime.slice(0, 100)}\`` : 'that are not inline'
  return GatewayError.unsupported(historyField(request.source), `This target does not read ${what}s ${type}.`)
}
