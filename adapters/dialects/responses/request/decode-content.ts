// Content parts of messages and tool outputs → canonical parts.
import { GatewayError } from '../../../../core/errors/gateway-error.ts'
import type { Annotation, DocumentPart, Json, JsonObject, Part, Source } from '../../../../core/types/canonical.ts'
import { parseDataUrl } from '../../shared/data-url.ts'
import { isObject, listField, textField } from '../../shared/fields.ts'
import { decodeAnnotation } from '../response/annotations.ts'

const MIME_OF_EXTENSION: Readonly<Record<string, string>> = {
  pdf: 'application/pdf',
  txt: 'text/plain',
  md: 'text/markdown',
  csv: 'text/csv',
  json: 'application/json',
  html: 'text/html',
}

/** A string or a list of parts; empty text parts without a cache mark vanish. */
export function decodeContent(content: Json | undefined, at: string): Part[] {
  if (content === undefined || content === null || content === '') return []
  if (typeof content === 'string') return [{ t: 'text', text: content }]
  if (!Array.isArray(content)) throw GatewayError.invalid(at, `\`${at}\` must be a string or an array.`)
  const parts: Part[] = []
  for (const [index, wire] of content.entries()) {
    const where = `${at}[${index}]`
    if (typeof wire === 'string') {
      if (wire !== '') parts.push({ t: 'text', text: wire })
      continue
    }
    if (!isObject(wire)) throw GatewayError.invalid(where, `\`${where}\` must be an object.`)
    const part = decodePart(wire, where)
    if (isObject(wire.prompt_cache_breakpoint)) part.cache = {}
    if (part.t !== 'text' || part.text !== '' || part.cache !== undefined) parts.push(part)
  }
  return parts
}

function decodePart(wire: JsonObject, at: string): Part {
  switch (wire.type) {
    case 'input_text':
    case 'output_text':
    case 'text': {
      const annotations = (listField(wire, 'annotations', `${at}.annotations`) ?? [])
        .map(decodeAnnotation)
        .filter((one): one is Annotation => one !== null)
      return {
        t: 'text',
        text: textField(wire, 'text', `${at}.text`) ?? '',
        ...(annotations.length === 0 ? {} : { annotations }),
      }
    }
    case 'refusal':
      return { t: 'refusal', text: textField(wire, 'refusal', `${at}.refusal`) ?? '' }
    case 'input_image': {
      const detail = textField(wire, 'detail', `${at}.detail`)
      return { t: 'image', src: imageSource(wire, at), ...(detail === undefined ? {} : { detail }) }
    }
    case 'input_file':
      return decodeFile(wire, at)
    case 'input_audio': {
      const audio = isObject(wire.input_audio) ? wire.input_audio : wire
      const data = textField(audio, 'data', `${at}.input_audio.data`)
      const format = textField(audio, 'format', `${at}.input_audio.format`) ?? 'wav'
      if (!data) throw GatewayError.invalid(`${at}.input_audio.data`, `\`${at}.input_audio.data\` is required.`)
      return { t: 'audio', src: { kind: 'base64', data, mime: `audio/${format}` }, format }
    }
    default:
      if (typeof wire.type !== 'string') throw GatewayError.invalid(`${at}.type`, `\`${at}.type\` must be a string.`)
      return { t: 'opaque', dialect: 'responses', raw: wire }
  }
}

function imageSource(wire: JsonObject, at: string): Source {
  // A string here, unlike in chat; the object of chat is understood all the same.
  const url = isObject(wire.image_url)
    ? textField(wire.image_url, 'url', `${at}.image_url.url`)
    : textField(wire, 'image_url', `${at}.image_url`)
  if (url) return urlSource(url)
  const id = textField(wire, 'file_id', `${at}.file_id`)
  if (id) return { kind: 'file', id }
  throw GatewayError.invalid(`${at}.image_url`, `\`${at}\` needs \`image_url\` or \`file_id\`.`)
}

function urlSource(url: string): Source {
  const inline = parseDataUrl(url)
  return inline === null ? { kind: 'url', url } : { kind: 'base64', ...inline }
}

function decodeFile(wire: JsonObject, at: string): DocumentPart {
  const filename = textField(wire, 'filename', `${at}.filename`)
  const data = textField(wire, 'file_data', `${at}.file_data`)
  const url = textField(wire, 'file_url', `${at}.file_url`)
  const id = textField(wire, 'file_id', `${at}.file_id`)
  const named = filename === undefined ? {} : { filename }
  if (data) {
    const mime = MIME_OF_EXTENSION[filename?.split('.').pop()?.toLowerCase() ?? 'pdf'] ?? 'application/pdf'
    const inline = parseDataUrl(data) ?? { mime, data }
    return { t: 'document', src: { kind: 'base64', ...inline }, mime: inline.mime, ...named }
  }
  if (url) return { t: 'document', src: urlSource(url), ...named }
  if (id) return { t: 'document', src: { kind: 'file', id }, ...named }
  throw GatewayError.invalid(`${at}.file_data`, `\`${at}\` needs \`file_data\`, \`file_url\` or \`file_id\`.`)
}
