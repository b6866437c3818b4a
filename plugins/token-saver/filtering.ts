// The filters of tool output on the calls of a gateway: each text once a request, whatever is tried, and counted.
import { estimateText } from '../../core/models/token-estimate.ts'
import type { Call, RequestContext, Slot } from '../../core/types/context.ts'
import type { Services } from '../../core/types/plugin.ts'
import { byteLength, shorten } from './shorten.ts'
import { withShortResults } from './tool-results.ts'

export interface FilterStats {
  hits: number
  bytes_saved: number
}

/** A request's shortened texts and the savings. */
export interface Filtered {
  readonly texts: Map<string, string>
  readonly filters: Set<string>
  bytesSaved: number
  /** Tokens of the shortened texts, as the gateway counts them. */
  tokensBefore: number
  tokensAfter: number
}

export interface Filtering {
  prepare(ctx: RequestContext, call: Call): void
  /** Since the start of this process. */
  stats(filter: string): Readonly<FilterStats>
}

export function filtering(
  slot: Slot<Filtered>,
  disabled: () => ReadonlySet<string>,
  savings: () => Services['savings'] | undefined,
): Filtering {
  const counted = new Map<string, FilterStats>()
  const statsOf = (filter: string): FilterStats => {
    let stats = counted.get(filter)
    if (stats === undefined) {
      stats = { hits: 0, bytes_saved: 0 }
      counted.set(filter, stats)
    }
    return stats
  }

  return {
    prepare(ctx, call) {
      let filtered = slot.get(ctx)
      if (filtered === undefined) {
        filtered = { texts: new Map(), filters: new Set(), bytesSaved: 0, tokensBefore: 0, tokensAfter: 0 }
        slot.set(ctx, filtered)
      }
      const { texts, filters } = filtered
      const state = filtered
      const short = (text: string): string => {
        const known = texts.get(text)
        if (known !== undefined) return known
        const found = shorten(text, disabled())
        texts.set(text, found?.text ?? text)
        if (found === null) return text
        const saved = byteLength(text) - byteLength(found.text)
        filters.add(found.filter)
        state.bytesSaved += saved
        state.tokensBefore += estimateText(text)
        state.tokensAfter += estimateText(found.text)
        const stats = statsOf(found.filter)
        stats.hits++
        stats.bytes_saved += saved
        return found.text
      }
      const messages = withShortResults(call.request.messages, short)
      if (messages === null) return
      call.edit().messages = messages
      const noted = ctx.notes?.token_saver
      const before = typeof noted === 'object' && noted !== null && !Array.isArray(noted) ? noted : {}
      ctx.note('token_saver', { ...before, filters: [...filters], bytes_saved: state.bytesSaved })
      savings()?.claim(ctx, {
        ...{ source: 'token_filter', method: 'tokenizer', details: { filters: [...filters], bytes_saved: state.bytesSaved } },
        ...{ tokensBefore: Math.ceil(state.tokensBefore), tokensAfter: Math.ceil(state.tokensAfter) },
      })
    },
    stats: (filter) => counted.get(filter) ?? { hits: 0, bytes_saved: 0 },
  }
}
