// How much of a request's body is prompt, for whoever has to guess its tokens after a crash: base64 in it is billed as a picture or
// a page, not as text. Without this an image of some megabytes would be a million tokens, beyond what was kept back for it.
import type { Frozen, Part } from '../../core/types/canonical.ts'
import type { RequestContext } from '../../core/types/context.ts'

/** In shorter bodies it makes little difference. */
const LONG_BYTES = 65_536
/** What core counts for each, at four bytes a token. */
const MEDIUM_BYTES = 1600 * 4

/** Of a request that a budget applies to: its prompt was read to keep something back. */
export function promptBytes(ctx: RequestContext): number {
  if (ctx.operation !== 'chat' || ctx.bodyBytes <= LONG_BYTES) return ctx.bodyBytes
  let bytes = ctx.bodyBytes
  for (const { parts } of [...ctx.request.system, ...ctx.request.messages]) bytes += mediaOf(parts)
  return Math.max(bytes, 0)
}

/** What is billed for media, less what they take in the body. Parts nest a few levels at most: bodies are bounded in depth. */
function mediaOf(parts: readonly Frozen<Part>[]): number {
  let bytes = 0
  for (const part of parts) {
    if (part.t === 'tool_result') bytes += mediaOf(part.parts)
    else if (part.t === 'document' && 'parts' in part.src) bytes += mediaOf(part.src.parts)
    else if ((part.t === 'image' || part.t === 'audio' || part.t === 'video' || part.t === 'document') && 'kind' in part.src)
      bytes += MEDIUM_BYTES - (part.src.kind === 'base64' ? part.src.data.length : 0)
  }
  return bytes
}
