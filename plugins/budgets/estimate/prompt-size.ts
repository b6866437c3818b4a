// Computes the maximum tokens of a prompt without a tokenizer: two bytes per token for letters, one for digits and symbols; media follow
// a table.
import type { CanonicalRequest, Frozen, Json, Part, Source } from '../../../core/types/request/canonical.ts'
import { pdfPages } from './pdf-pages.ts'
import { clipSeconds } from './unknown-prompt.ts'

export interface PromptSize {
  /** Tokens. */
  readonly tokens: number
  /** Tokens that many small pages of PDFs may cost above `tokens`, up to the context window. */
  readonly pageTokens: number
  readonly hasImage: boolean
  readonly hasAudio: boolean
  /** True when the request writes to the vendor's one-hour cache, which costs more. */
  readonly longCache: boolean
}

const PER_MESSAGE = 8

/** A model reads a page as text and as an image, however few bytes it has. */
const PER_PAGE = 3000
/** A larger file costs more than a context window by its bytes alone: its pages are not counted. Bytes. */
const MAX_COUNTED = 4 * 1024 * 1024

/**
 * Tokens of media, by the item for URLs and by the byte for inline data. Vendors count images by area and stop at about 4,800 tokens.
 * Sound is at most 32 tokens per second (16 kbit/s or more), video 300 (200 kbit/s or more). A page of a document takes about 3,000
 * tokens and 6 kB. Sound, video and documents behind a URL have an unknown length: the model's whole context window is counted.
 */
export const MEDIA_TOKENS = {
  image: { elsewhere: 4800, perByte: 0 },
  audio: { elsewhere: 0, perByte: 32 / 2000 },
  video: { elsewhere: 0, perByte: 300 / 25_000 },
  document: { elsewhere: 0, perByte: 0.5 },
} as const
const FILM_PER_SECOND = 300

interface Seen {
  tokens: number
  pageTokens: number
  /** Bytes of base64 media in the body. */
  mediaBytes: number
  hasImage: boolean
  hasAudio: boolean
  longCache: boolean
}

// The maximum tokens of a text above one per two bytes. Letters and spaces never have smaller tokens than that. Digits and symbols may be
// one token each, and rare characters one for each of their bytes.
const LONELY = new Uint8Array(128).map((_, code) => {
  const isLetter = (code >= 0x41 && code <= 0x5a) || (code >= 0x61 && code <= 0x7a)
  return isLetter || code === 0x20 || code === 0x0a ? 0 : 1
})

/** Tokens. */
function extraTokens(text: string): number {
  let halves = 0
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i)
    if (code < 0x80) halves += LONELY[code] as number
    else if (code < 0x800) halves += 2
    // Chinese, Japanese and Korean: at most two tokens per character in vocabularies that contain them.
    else if ((code >= 0x3000 && code <= 0x9fff) || (code >= 0xac00 && code <= 0xd7a3)) halves += 1
    else halves += code >= 0xd800 && code <= 0xdfff ? 2 : 3
  }
  return halves / 2
}

/** Returns the extra tokens of all texts in the value, with member names. The depth of bodies is limited before they are decoded. */
function extraTokensIn(value: Frozen<Json>): number {
  if (typeof value === 'string') return extraTokens(value)
  if (typeof value === 'number') return extraTokens(String(value))
  if (typeof value !== 'object' || value === null) return 0
  let tokens = 0
  for (const [name, member] of Object.entries(value as Readonly<Record<string, Frozen<Json>>>))
    tokens += (Array.isArray(value) ? 0 : extraTokens(name)) + extraTokensIn(member)
  return tokens
}

export function promptSize(request: Frozen<CanonicalRequest>, bodyBytes: number): PromptSize {
  const { auto } = request.cache ?? {}
  const seen: Seen = { tokens: 0, pageTokens: 0, mediaBytes: 0, hasImage: false, hasAudio: false, longCache: auto?.ttl === '1h' }
  for (const { parts } of request.system) look(parts, seen)
  for (const { parts } of request.messages) look(parts, seen)
  for (const tool of request.tools) {
    if (tool.t === 'function' && tool.cache?.ttl === '1h') seen.longCache = true
    seen.tokens += extraTokensIn(tool as Frozen<Json>)
  }
  if (request.output?.schema !== undefined) seen.tokens += extraTokensIn(request.output.schema)
  const text = Math.ceil(Math.max(0, bodyBytes - seen.mediaBytes) / 2)
  const { pageTokens, hasImage, hasAudio, longCache } = seen
  const messages = request.messages.length + request.system.length
  return { tokens: text + PER_MESSAGE * messages + Math.ceil(seen.tokens), pageTokens, hasImage, hasAudio, longCache }
}

/** Parts have only a few levels: the depth of bodies is limited before they are decoded. */
function look(parts: readonly Frozen<Part>[], seen: Seen): void {
  for (const part of parts) {
    if (part.cache?.ttl === '1h') seen.longCache = true
    if (part.t === 'tool_result') look(part.parts, seen)
    else if (part.t === 'document' && 'parts' in part.src) look(part.src.parts, seen)
    else if (part.t === 'document' && 'text' in part.src) seen.tokens += extraTokens(part.src.text)
    else if (part.t === 'document' && 'kind' in part.src) add('document', part.src, seen)
    else if (part.t === 'image' || part.t === 'audio' || part.t === 'video') {
      if (part.t === 'image') seen.hasImage = true
      else seen.hasAudio = true
      add(part.t, part.src, seen)
      if (part.t === 'video' && part.src.kind !== 'base64') seen.tokens += (clipSeconds(part.meta) ?? 0) * FILM_PER_SECOND
    } else if (part.t === 'tool_call') seen.tokens += extraTokens(part.name) + extraTokens(part.args)
    else if (part.t === 'opaque' || part.t === 'server_tool') seen.tokens += extraTokensIn(part.raw)
    else if (part.t === 'text' || part.t === 'reasoning' || part.t === 'refusal') seen.tokens += extraTokens(part.text)
  }
}

function add(kind: keyof typeof MEDIA_TOKENS, source: Frozen<Source>, seen: Seen): void {
  const { elsewhere, perByte } = MEDIA_TOKENS[kind]
  if (source.kind !== 'base64' || perByte === 0) seen.tokens += elsewhere
  else seen.tokens += source.data.length * 0.75 * perByte
  if (kind === 'document' && source.kind === 'base64') seen.pageTokens += smallPages(source.data)
  if (source.kind === 'base64') seen.mediaBytes += source.data.length
}

/** Returns what the pages cost above the bytes of the file. */
function smallPages(base64: string): number {
  const bytes = base64.length * 0.75
  if (bytes > MAX_COUNTED) return 0
  return Math.max(0, pdfPages(base64) * PER_PAGE - Math.floor(bytes * MEDIA_TOKENS.document.perByte))
}
