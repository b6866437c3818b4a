// Estimates token counts that no upstream reports: 3.6 characters per token, 1.1 for CJK, 4 per message, 1,600 per image. The result is
// always flagged as estimated.
import type { Usage } from '../types/request/answer.ts'
import type { CanonicalRequest, Frozen, Part } from '../types/request/canonical.ts'
import { isTokenCount } from './token-count.ts'

const PER_MESSAGE = 4
const PER_IMAGE = 1600

const WIDE = /[\u2e80-\uffff]/
const PIECE_CHARS = 64 * 1024

/** Returns tokens, not rounded. */
export function estimateText(text: string): number {
  const wide = wideChars(text)
  return wide / 1.1 + (text.length - wide) / 3.6
}

/** Counts CJK and other wide characters. A search over a long text takes a fraction of the loop's time, and none for Latin-1. */
function wideChars(text: string): number {
  if (text.length <= PIECE_CHARS) return wideFrom(text, 0)
  let wide = 0
  for (let at = 0; at < text.length; at += PIECE_CHARS) {
    const piece = text.slice(at, at + PIECE_CHARS)
    const first = piece.search(WIDE)
    if (first >= 0) wide += wideFrom(piece, first)
  }
  return wide
}

function wideFrom(text: string, first: number): number {
  let wide = 0
  for (let i = first; i < text.length; i++) if (text.charCodeAt(i) >= 0x2e80) wide++
  return wide
}

/** Returns the prompt tokens of a request: texts, tool declarations, media at a flat rate. */
export function estimateRequest(request: Frozen<CanonicalRequest>): number {
  let tokens = 0
  for (const block of request.system) tokens += PER_MESSAGE + partsTokens(block.parts)
  for (const message of request.messages) tokens += PER_MESSAGE + partsTokens(message.parts)
  if (request.tools.length > 0) tokens += estimateText(JSON.stringify(request.tools))
  return Math.ceil(tokens)
}

/** Estimates usage: the prompt from the request, the output from the delivered bytes (4 bytes per token). */
export function estimateUsage(request: Frozen<CanonicalRequest> | null, contentBytes: number): Usage {
  const inputTotal = request === null ? 0 : estimateRequest(request)
  const outputTotal = Math.ceil(contentBytes / 4)
  return { inputTotal, cacheRead: 0, cacheWrite: 0, outputTotal, total: inputTotal + outputTotal, estimated: true, raw: null }
}

/** Returns whether an upstream's own counts can be booked: not estimated, and whole numbers within the limit. An explicit zero is valid. */
export function isReported(usage: Usage | null): usage is Usage {
  return (
    usage !== null &&
    !usage.estimated &&
    isTokenCount(usage.inputTotal) &&
    isTokenCount(usage.outputTotal) &&
    isTokenCount(usage.cacheRead) &&
    isTokenCount(usage.cacheWrite) &&
    isTokenCount(usage.reasoning ?? 0)
  )
}

/** Returns a usage of zero that does not count as estimated. */
export function noUsage(): Usage {
  return { inputTotal: 0, cacheRead: 0, cacheWrite: 0, outputTotal: 0, total: 0, estimated: false, raw: null }
}

function partsTokens(parts: readonly Frozen<Part>[]): number {
  let tokens = 0
  for (const part of parts) {
    if (part.t === 'text' || part.t === 'reasoning' || part.t === 'refusal') tokens += estimateText(part.text)
    else if (part.t === 'tool_call') tokens += estimateText(part.name) + estimateText(part.args)
    else if (part.t === 'tool_result') tokens += partsTokens(part.parts)
    else if (part.t === 'document')
      tokens += 'text' in part.src ? estimateText(part.src.text) : 'parts' in part.src ? partsTokens(part.src.parts) : PER_IMAGE
    else if (part.t === 'server_tool' || part.t === 'opaque') tokens += estimateText(JSON.stringify(part.raw))
    else tokens += PER_IMAGE
  }
  return tokens
}
