// Counts prompt bytes of a request's body, for the token estimate after a crash. Base64 media is billed by picture or page, not as text.
// Otherwise an image of some megabytes would count as a million tokens, more than was reserved.
import { isConversation } from '../../core/calls/conversation.ts'
import type { Frozen, Part } from '../../core/types/request/canonical.ts'
import type { RequestContext } from '../../core/types/request/context.ts'

/** For shorter bodies the difference is small. */
const LONG_BYTES = 65_536
/** The core's estimate for one medium, at four bytes per token. */
const MEDIUM_BYTES = 1600 * 4

/** For a request with a budget: its prompt was already parsed for the reservation. */
export function promptBytes(ctx: RequestContext): number {
  let bytes = ctx.bodyBytes + ctx.addedBytes
  if (!isConversation(ctx) || bytes <= LONG_BYTES) return bytes
  for (const { parts } of [...ctx.request.system, ...ctx.request.messages]) bytes += mediaOf(parts)
  return Math.max(bytes, 0)
}

/** Returns the billed bytes of media minus their bytes in the body. The depth of bodies is limited, so parts have only a few levels. */
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
