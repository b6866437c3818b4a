// Classifies media types and addresses for Gemini: the kind of a MIME type, and the URLs that it fetches itself.

export type MediaKind = 'image' | 'audio' | 'video' | 'document'

const BY_EXTENSION: Readonly<Record<string, string>> = {
  png: 'image/png',
  jpg: 'image/jpeg',
  jpeg: 'image/jpeg',
  webp: 'image/webp',
  gif: 'image/gif',
  heic: 'image/heic',
  heif: 'image/heif',
  pdf: 'application/pdf',
  txt: 'text/plain',
  md: 'text/markdown',
  html: 'text/html',
  csv: 'text/csv',
  mp3: 'audio/mp3',
  wav: 'audio/wav',
  ogg: 'audio/ogg',
  flac: 'audio/flac',
  aac: 'audio/aac',
  mp4: 'video/mp4',
  mov: 'video/mov',
  webm: 'video/webm',
  mpeg: 'video/mpeg',
}

export function mediaKind(mime: string | undefined): MediaKind {
  const family = mime?.slice(0, mime.indexOf('/'))
  return family === 'image' || family === 'audio' || family === 'video' ? family : 'document'
}

/** Returns the type by the file name's extension; undefined when it is unknown. */
export function mimeOfUrl(url: string): string | undefined {
  const path = url.split(/[?#]/, 1)[0] as string
  return BY_EXTENSION[path.slice(path.lastIndexOf('.') + 1).toLowerCase()]
}

export function mimeOfAudio(format: string): string {
  if (format === 'mpeg') return 'audio/mp3'
  return format.includes('/') ? format : `audio/${format || 'wav'}`
}

export function audioFormat(mime: string): string {
  const subtype = (mime.slice(mime.indexOf('/') + 1).split(';', 1)[0] as string).toLowerCase()
  if (subtype === 'mpeg' || subtype === 'mpga') return 'mp3'
  return subtype === 'x-wav' || subtype === 'wave' ? 'wav' : subtype
}

/** Cloud Storage and the Files API: addresses that only Google can read. */
export function isGoogleUri(uri: string): boolean {
  return uri.startsWith('gs://') || /^https:\/\/generativelanguage\.googleapis\.com\/[^?#]*\bfiles\//.test(uri)
}

export function isYouTube(url: string): boolean {
  return /^https?:\/\/((www|m)\.)?(youtube\.com|youtu\.be)\//.test(url)
}

/** Returns whether Gemini accepts the address unchanged. */
export function passesAsUri(uri: string): boolean {
  return isGoogleUri(uri) || isYouTube(uri)
}
