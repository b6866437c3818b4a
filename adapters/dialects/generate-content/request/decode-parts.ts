// Decodes one wire part into one canonical part. decode-contents reads calls and results, because it pairs them.
import { isEnvelope, unwrapSignature } from '../../../../core/models/signature.ts'
import type { Json, JsonObject, Part, Signature, Source } from '../../../../core/types/request/canonical.ts'
import { booleanField, fieldsOf, textField } from '../fields.ts'
import { audioFormat, isGoogleUri, isYouTube, mediaKind, mimeOfUrl } from '../media.ts'
import { redactedPart } from '../redacted-thinking.ts'
import { isCarrier } from '../thought-carrier.ts'

const KNOWN = new Set([
  'text',
  'thought',
  'thoughtSignature',
  'inlineData',
  'fileData',
  'functionCall',
  'functionResponse',
  'videoMetadata',
])
const SERVER_SIDE = ['executableCode', 'codeExecutionResult', 'toolCall', 'toolResponse'] as const

/** Returns null for a part without meaning: empty text without a signature. */
export function decodePart(part: JsonObject, param: string): Part | null {
  const kind = SERVER_SIDE.find((name) => part[name] !== undefined)
  if (kind !== undefined) return { t: 'server_tool', dialect: 'generate_content', kind, raw: part }
  const found = signatureOf(part, param)
  // Only a call carries thoughts.
  const signature = isCarrier(found) ? undefined : found
  if (part.inlineData !== undefined || part.fileData !== undefined) return withExt(media(part, param), part, signature)
  if (part.text === undefined && signature === undefined) {
    const meaningful = Object.keys(part).some((key) => key !== 'thought')
    return meaningful ? { t: 'opaque', dialect: 'generate_content', raw: part } : null
  }
  const text = textField(part.text, `${param}.text`) ?? ''
  if (booleanField(part.thought, `${param}.thought`) === true) return withExt(thought(text, signature), part)
  if (text === '' && signature === undefined) return null
  return withExt({ t: 'text', text, ...(signature ? { signature } : {}) }, part)
}

/** A secret outside our envelope is Google's own, of an unknown family. An unreadable envelope is not a secret. */
export function signatureOf(part: JsonObject, param: string): Signature | undefined {
  const text = textField(part.thoughtSignature, `${param}.thoughtSignature`)
  if (text === undefined || text === '') return undefined
  if (isEnvelope(text)) return unwrapSignature(text) ?? undefined
  return { dialect: 'generate_content', modelFamily: '', value: text }
}

/** Returns the fields of a part that only this dialect has. */
export function partExt(part: JsonObject): JsonObject | null {
  const unknown = Object.entries(part).filter(([key]) => !KNOWN.has(key))
  return unknown.length === 0 ? null : Object.fromEntries(unknown)
}

/** Decodes inlineData or fileData as a media part, also inside a functionResponse. */
export function media(part: JsonObject, param: string): Part {
  const inline = part.inlineData !== undefined
  const name = inline ? 'inlineData' : 'fileData'
  const data = fieldsOf(part[name] as Json, `${param}.${name}`)
  const uri = inline ? undefined : (textField(data.fileUri, `${param}.fileData.fileUri`) ?? '')
  const mime =
    textField(data.mimeType, `${param}.${name}.mimeType`) ?? (uri === undefined ? 'application/octet-stream' : mimeOfUrl(uri))
  const src: Source =
    uri === undefined
      ? { kind: 'base64', data: textField(data.data, `${param}.inlineData.data`) ?? '', mime: mime as string }
      : isGoogleUri(uri) || !/^https?:/.test(uri)
        ? { kind: 'uri', uri, ...(mime ? { mime } : {}) }
        : { kind: 'url', url: uri, ...(mime ? { mime } : {}) }
  const kind = uri !== undefined && isYouTube(uri) ? 'video' : mediaKind(mime)
  const filename = textField(data.displayName, `${param}.${name}.displayName`)
  if (kind === 'image') return { t: 'image', src }
  if (kind === 'audio') return { t: 'audio', src, format: audioFormat(mime as string) }
  if (kind === 'video') return { t: 'video', src, ...(part.videoMetadata === undefined ? {} : { meta: part.videoMetadata }) }
  return { t: 'document', src, ...(mime ? { mime } : {}), ...(filename ? { filename } : {}) }
}

function thought(text: string, signature: Signature | undefined): Part {
  if (signature === undefined) return { t: 'reasoning', text }
  // Unwraps reasoning that our encoder wrapped for other dialects.
  if (signature.dialect === 'responses') return { t: 'reasoning', text, encrypted: signature }
  return redactedPart(signature) ?? { t: 'reasoning', text, signature }
}

function withExt(decoded: Part, part: JsonObject, signature?: Signature): Part {
  const ext = partExt(part)
  if (ext === null && signature === undefined) return decoded
  return {
    ...decoded,
    ext: {
      generate_content: { ...ext, ...(signature?.dialect === 'generate_content' ? { thoughtSignature: signature.value } : {}) },
    },
  }
}
