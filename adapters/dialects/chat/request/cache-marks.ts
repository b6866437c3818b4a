// Writes prompt-cache marks on the chat wire: OpenAI's breakpoint, or Anthropic's field for providers that forward it.
import type { CacheMark, Frozen, JsonObject } from '../../../../core/types/request/canonical.ts'
import type { CodecContext } from '../../../../core/types/request/dialect.ts'

/** Returns the cache members of a part; none when the target does not support them. */
export function cacheFields(mark: Frozen<CacheMark> | undefined, codec: CodecContext): JsonObject {
  if (mark === undefined) return {}
  if (codec.quirks.acceptsCacheControl) {
    return { cache_control: { type: 'ephemeral', ...(mark.ttl === '5m' || mark.ttl === '1h' ? { ttl: mark.ttl } : {}) } }
  }
  return codec.caps.cacheBreakpoints ? { prompt_cache_breakpoint: { mode: 'explicit' } } : {}
}

/** Returns whether system and tool messages may be arrays of text parts. An array is used only when a part has more than text. */
export function acceptsPartArrays(codec: CodecContext): boolean {
  return (
    codec.quirks.acceptsPartArrays === true || codec.quirks.acceptsCacheControl === true || codec.caps.cacheBreakpoints === true
  )
}
