// Applies the filters of tool output to a gateway's calls: each text once per request, for all attempts, with counts.
import { estimateText } from '../../core/models/token-estimate.ts'
import type { Services } from '../../core/types/plugin/plugin.ts'
import type { Frozen, Json, Message, Part, ToolResultPart } from '../../core/types/request/canonical.ts'
import type { Call, RequestContext, Slot } from '../../core/types/request/context.ts'
import { byteLength, shorten } from './shorten.ts'

export interface FilterStats {
  hits: number
  bytes_saved: number
}

/** A request's shortened texts and the savings. */
export interface Filtered {
  readonly texts: Map<string, string>
  readonly filters: Set<string>
  bytesSaved: number
  /** Tokens of the shortened texts, by the gateway's count. */
  tokensBefore: number
  tokensAfter: number
}

export interface Filtering {
  prepare(ctx: RequestContext<'chat'>, call: Call<'chat'>): void
  /** The counts of one organization since the start of this process. */
  stats(orgId: number | null, filter: string): Readonly<FilterStats>
}

/** Returns null when nothing changed. */
function withShortResults(messages: readonly Frozen<Message>[], short: (text: string) => string): Message[] | null {
  let changed = false
  const out = messages.map((message) => {
    if (!message.parts.some((part) => part.t === 'tool_result')) return message
    const parts = message.parts.map((part) => (part.t === 'tool_result' ? shortResult(part, short) : part))
    if (parts.every((part, at) => part === message.parts[at])) return message
    changed = true
    return { ...message, parts }
  })
  return changed ? (out as Message[]) : null
}

function shortResult(result: Frozen<ToolResultPart & Part>, short: (text: string) => string): Frozen<ToolResultPart & Part> {
  if (result.isError) return result
  const { json } = result
  const whole = isObject(json) ? JSON.stringify(json) : null
  let leaves: Frozen<Json> | undefined
  const parts = result.parts.map((part) => {
    if (part.t !== 'text') return part
    // A result that is an object appears as its JSON text; the output is in its members.
    if (whole !== null && part.text === whole) leaves = shortLeaves(json as Frozen<Json>, short)
    const text = leaves === undefined ? short(part.text) : JSON.stringify(leaves)
    return text === part.text ? part : { ...part, text }
  })
  if (parts.every((part, at) => part === result.parts[at])) return result
  return { ...result, parts, ...(leaves === undefined ? {} : { json: leaves }) }
}

/** Recursion is limited by the depth of bodies. */
function shortLeaves(value: Frozen<Json>, short: (text: string) => string): Frozen<Json> {
  if (typeof value === 'string') return short(value)
  if (Array.isArray(value)) return value.map((item: Frozen<Json>) => shortLeaves(item, short))
  if (!isObject(value)) return value
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, shortLeaves(member, short)]))
}

function isObject(value: Frozen<Json> | undefined): value is { readonly [key: string]: Frozen<Json> } {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

export function filtering(
  slot: Slot<Filtered>,
  disabled: (ctx: RequestContext) => ReadonlySet<string>,
  savings: () => Services['savings'] | undefined,
): Filtering {
  const counted = new Map<string, FilterStats>()
  const statsOf = (orgId: number | null, filter: string): FilterStats => {
    const name = nameOf(orgId, filter)
    let stats = counted.get(name)
    if (stats === undefined) {
      stats = { hits: 0, bytes_saved: 0 }
      counted.set(name, stats)
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
        const found = shorten(text, disabled(ctx))
        texts.set(text, found?.text ?? text)
        if (found === null) return text
        const saved = byteLength(text) - byteLength(found.text)
        filters.add(found.filter)
        state.bytesSaved += saved
        state.tokensBefore += estimateText(text)
        state.tokensAfter += estimateText(found.text)
        const stats = statsOf(ctx.principal.orgId, found.filter)
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
        source: 'token_filter',
        method: 'tokenizer',
        details: { filters: [...filters], bytes_saved: state.bytesSaved },
        tokensBefore: Math.ceil(state.tokensBefore),
        tokensAfter: Math.ceil(state.tokensAfter),
      })
    },
    stats: (orgId, filter) => counted.get(nameOf(orgId, filter)) ?? { hits: 0, bytes_saved: 0 },
  }
}

function nameOf(orgId: number | null, filter: string): string {
  return `${orgId ?? ''} ${filter}`
}
