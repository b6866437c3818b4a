// Pieces that a whole answer and a stream chunk share: content in a string or in mistral's array, annotations, images.
import type { Annotation, ImagePart, Json, JsonObject, Part } from '../../../../core/types/canonical.ts'
import { isObject, text } from '../read.ts'
import { imageSource } from '../request/decode-parts.ts'

export interface Spoken {
  reasoning: string
  text: string
}

/** `content` of a message or delta: a string, or an array of thinking and text parts (mistral). */
export function spokenContent(content: Json | undefined): Spoken {
  if (typeof content === 'string') return { reasoning: '', text: content }
  const spoken = { reasoning: '', text: '' }
  if (!Array.isArray(content)) return spoken
  for (const part of content) {
    if (!isObject(part)) continue
    if (part.type === 'text') spoken.text += text(part.text) ?? ''
    else if (part.type === 'thinking') {
      if (typeof part.thinking === 'string') spoken.reasoning += part.thinking
      else if (Array.isArray(part.thinking))
        for (const inner of part.thinking) if (isObject(inner)) spoken.reasoning += text(inner.text) ?? ''
    }
  }
  return spoken
}

export function decodeAnnotations(list: Json | undefined): Annotation[] {
  if (!Array.isArray(list)) return []
  return list.flatMap((raw): Annotation[] => {
    if (!isObject(raw)) return []
    const cited = isObject(raw.url_citation) ? raw.url_citation : isObject(raw.file_citation) ? raw.file_citation : raw
    const kind = isObject(raw.file_citation) ? 'file' : 'url'
    const url = text(cited.url)
    const title = text(cited.title)
    return [
      {
        kind,
        ...(url === undefined ? {} : { url }),
        ...(title === undefined ? {} : { title }),
        ...(typeof cited.start_index === 'number' ? { start: cited.start_index } : {}),
        ...(typeof cited.end_index === 'number' ? { end: cited.end_index } : {}),
        raw,
        dialect: 'chat',
      },
    ]
  })
}

/** Generated images (OpenRouter's convention). */
export function decodeImages(list: Json | undefined): (ImagePart & Part)[] {
  if (!Array.isArray(list)) return []
  return list.flatMap((image): (ImagePart & Part)[] => {
    const url = isObject(image) && isObject(image.image_url) ? text(image.image_url.url) : undefined
    return url === undefined ? [] : [{ t: 'image', src: imageSource(url) }]
  })
}

export function decodeAudio(audio: JsonObject): Part {
  const id = text(audio.id)
  const transcript = text(audio.transcript)
  return {
    t: 'audio',
    src: { kind: 'base64', data: text(audio.data) ?? '', mime: '' },
    format: '',
    ...(id === undefined ? {} : { id }),
    ...(transcript === undefined ? {} : { transcript }),
    ...(typeof audio.expires_at === 'number' ? { ext: { chat: { expires_at: audio.expires_at } } } : {}),
  }
}
