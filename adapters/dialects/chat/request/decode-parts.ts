// Decodes message content: a string, or the part types of user, system and tool messages.
import type { CacheMark, Ext, Json, JsonObject, Part, Source } from '../../../../core/types/request/canonical.ts'
import { parseDataUrl } from '../../shared/data-url.ts'
import {
  isObject,
  optionalArray,
  optionalObject,
  optionalString,
  requiredString,
  text,
  unknownMembers,
  wrongType,
} from '../read.ts'

/** Returns the parts. `at` is the content's path, for error messages. Empty texts are dropped unless they carry a cache mark. */
export function decodeContent(content: Json | undefined, at: string): Part[] {
  if (content === undefined || content === null || content === '') return []
  if (typeof content === 'string') return [{ t: 'text', text: content }]
  if (!Array.isArray(content)) throw wrongType(at, 'a string or an array of parts')
  const parts: Part[] = []
  content.forEach((item, index) => {
    const part = decodePart(item, `${at}.${index}`)
    if (part !== null) parts.push(part)
  })
  return parts
}

/** Returns null for an empty text. */
export function decodePart(item: Json, at: string): Part | null {
  if (typeof item === 'string') return item === '' ? null : { t: 'text', text: item }
  if (!isObject(item)) throw wrongType(at, 'a content part')
  const part = typedPart(item, `${at}.`)
  if (part === null) return null
  const cache = cacheMark(item)
  if (part.t === 'text' && part.text === '' && cache === undefined) return null
  return cache === undefined ? part : { ...part, cache }
}

/** Reads OpenAI's mark (`prompt_cache_breakpoint`), and Anthropic's field, which some clients send on this dialect. */
export function cacheMark(owner: JsonObject): CacheMark | undefined {
  const mark = isObject(owner.cache_control)
    ? owner.cache_control
    : isObject(owner.prompt_cache_breakpoint)
      ? owner.prompt_cache_breakpoint
      : null
  if (mark === null) return undefined
  return mark.ttl === '5m' || mark.ttl === '1h' || mark.ttl === '30m' ? { ttl: mark.ttl } : {}
}

export function imageSource(url: string): Source {
  const data = parseDataUrl(url)
  if (data !== null) return { kind: 'base64', data: data.data, mime: data.mime }
  return /^https?:\/\//i.test(url) ? { kind: 'url', url } : { kind: 'uri', uri: url }
}

/** Returns `{chat: …}` with unknown members; they are sent only to the same dialect. */
export function chatExt(owner: JsonObject, known: ReadonlySet<string>): { ext?: Ext } {
  const rest = unknownMembers(owner, known)
  return rest === undefined ? {} : { ext: { chat: rest } }
}

const MARKS = ['type', 'cache_control', 'prompt_cache_breakpoint']
const TEXT_KEYS: ReadonlySet<string> = new Set([...MARKS, 'text'])
const IMAGE_KEYS: ReadonlySet<string> = new Set([...MARKS, 'image_url'])
const AUDIO_KEYS: ReadonlySet<string> = new Set([...MARKS, 'input_audio'])
const FILE_KEYS: ReadonlySet<string> = new Set([...MARKS, 'file'])
const VIDEO_KEYS: ReadonlySet<string> = new Set([...MARKS, 'video_url'])

function typedPart(item: JsonObject, at: string): Part | null {
  switch (item.type) {
    case 'text':
    case 'input_text':
    case 'output_text':
      return { t: 'text', text: optionalString(item, 'text', at) ?? '', ...chatExt(item, TEXT_KEYS) }
    case 'refusal': {
      const refusal = optionalString(item, 'refusal', at) ?? ''
      return refusal === '' ? null : { t: 'refusal', text: refusal }
    }
    case 'image_url':
      return imagePart(item, at)
    case 'input_audio':
      return audioPart(item, at)
    case 'file':
      return filePart(item, at)
    case 'video_url': {
      const url =
        typeof item.video_url === 'string'
          ? item.video_url
          : requiredString(optionalObject(item, 'video_url', at) ?? {}, 'url', `${at}video_url.`)
      return { t: 'video', src: imageSource(url), ...chatExt(item, VIDEO_KEYS) }
    }
    case 'thinking':
      return { t: 'reasoning', text: thinkingText(item, at) }
    default:
      return { t: 'opaque', dialect: 'chat', raw: item }
  }
}

function imagePart(item: JsonObject, at: string): Part {
  // Many clients send the bare URL instead of the object.
  const image = typeof item.image_url === 'string' ? { url: item.image_url } : (optionalObject(item, 'image_url', at) ?? {})
  const url = requiredString(image, 'url', `${at}image_url.`)
  const detail = optionalString(image, 'detail', `${at}image_url.`)
  return { t: 'image', src: imageSource(url), ...(detail === undefined ? {} : { detail }), ...chatExt(item, IMAGE_KEYS) }
}

function audioPart(item: JsonObject, at: string): Part {
  const audio = optionalObject(item, 'input_audio', at) ?? {}
  const data = requiredString(audio, 'data', `${at}input_audio.`)
  const url = parseDataUrl(data)
  const format = optionalString(audio, 'format', `${at}input_audio.`) ?? url?.mime.replace('audio/', '') ?? 'wav'
  const mime = url?.mime ?? (format === 'mp3' ? 'audio/mpeg' : `audio/${format}`)
  return { t: 'audio', src: { kind: 'base64', data: url?.data ?? data, mime }, format, ...chatExt(item, AUDIO_KEYS) }
}

function filePart(item: JsonObject, at: string): Part {
  const file = optionalObject(item, 'file', at) ?? {}
  const filename = optionalString(file, 'filename', `${at}file.`)
  const name = filename === undefined ? {} : { filename }
  const id = optionalString(file, 'file_id', `${at}file.`)
  if (text(id) !== undefined)
    return { t: 'document', src: { kind: 'file', id: id as string }, ...name, ...chatExt(item, FILE_KEYS) }
  const data = requiredString(file, 'file_data', `${at}file.`)
  const src = documentSource(data, filename)
  const mime = src.kind === 'base64' ? { mime: src.mime } : {}
  return { t: 'document', src, ...mime, ...name, ...chatExt(item, FILE_KEYS) }
}

function documentSource(data: string, filename: string | undefined): Source {
  if (data.startsWith('data:') || /^[a-z][a-z0-9+.-]*:\/\//i.test(data)) return imageSource(data)
  // For bare base64 the name is the only information about the type.
  const mime = filename?.endsWith('.txt') ? 'text/plain' : 'application/pdf'
  return { kind: 'base64', data, mime }
}

/** Mistral: `thinking` is a text or a list of text parts. */
function thinkingText(item: JsonObject, at: string): string {
  if (typeof item.thinking === 'string') return item.thinking
  return (optionalArray(item, 'thinking', at) ?? []).map((part) => (isObject(part) ? (text(part.text) ?? '') : '')).join('')
}
