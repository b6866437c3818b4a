// Converts token counts in both directions: here `input_tokens` excludes the cache; the canonical total includes it.
import { tokenCount } from '../../../core/models/token-count.ts'
import { noUsage } from '../../../core/models/token-estimate.ts'
import type { Usage } from '../../../core/types/request/answer.ts'
import type { Frozen, Json, JsonObject } from '../../../core/types/request/canonical.ts'
import { isObject, others } from '../shared/fields.ts'
import { UsageLatch } from './stream/usage-latch.ts'

/** Returns null when the upstream reported none, or only impossible counts. */
export function decodeUsage(raw: Json | undefined): Usage | null {
  const latch = new UsageLatch()
  latch.observe(raw)
  return latch.result()
}

/** Returns the usage for an answer without a report. Settlement estimates it. */
export function missingUsage(): Usage {
  return { ...noUsage(), estimated: true }
}

/** Returns the `usage` of a message, with every key of the published type. */
export function encodeUsage(usage: Frozen<Partial<Usage>>, serviceTier: string | undefined): JsonObject {
  const { cacheWrite5m: short, cacheWrite1h: long } = usage
  const split =
    short === undefined && long === undefined
      ? null
      : { ephemeral_5m_input_tokens: short ?? 0, ephemeral_1h_input_tokens: long ?? 0 }
  const counts = encodeDeltaUsage(usage)
  // The members are written out: a spread followed by members gives every object its own hidden class.
  const own = ownReport(usage)
  const members: JsonObject = {
    input_tokens: counts.input_tokens,
    output_tokens: counts.output_tokens,
    cache_creation_input_tokens: counts.cache_creation_input_tokens,
    cache_read_input_tokens: counts.cache_read_input_tokens,
    output_tokens_details: counts.output_tokens_details,
    server_tool_use: counts.server_tool_use,
    cache_creation: split,
    service_tier: serviceTier === 'standard' || serviceTier === 'priority' || serviceTier === 'batch' ? serviceTier : null,
    inference_geo: null,
    speed: null,
  }
  if (own !== undefined) for (const name in own) if (!(name in counts)) members[name] = own[name] as Json
  return members
}

/** Returns members of the vendor's final usage report outside the published counts, without those of its first report. */
export function ownDeltaCounts(usage: Frozen<Partial<Usage>>): JsonObject | undefined {
  const own = ownReport(usage)
  return own === undefined ? undefined : (others(own as JsonObject, AT_START) ?? undefined)
}

const AT_START: ReadonlySet<string> = new Set(['cache_creation', 'service_tier', 'inference_geo', 'speed'])

/** Returns undefined when the vendor spoke another dialect, or counts were added. */
function ownReport({ raw, outputTotal, total, estimated }: Frozen<Partial<Usage>>): Frozen<JsonObject> | undefined {
  if (estimated === true || !isObject(raw) || raw.output_tokens !== outputTotal || 'total_tokens' in raw) return undefined
  const input = (outputTotal ?? 0) + (tokenCount(raw.input_tokens) ?? 0)
  const cached = (tokenCount(raw.cache_read_input_tokens) ?? 0) + (tokenCount(raw.cache_creation_input_tokens) ?? 0)
  return total === undefined || total === input + cached ? raw : undefined
}

/** Returns the `usage` of message_delta: totals of the whole message. */
export function encodeDeltaUsage(usage: Frozen<Partial<Usage>>) {
  const cacheRead = usage.cacheRead ?? 0
  const cacheWrite = usage.cacheWrite ?? 0
  return {
    input_tokens: Math.max(0, (usage.inputTotal ?? 0) - cacheRead - cacheWrite),
    output_tokens: usage.outputTotal ?? 0,
    cache_creation_input_tokens: cacheWrite,
    cache_read_input_tokens: cacheRead,
    output_tokens_details: usage.reasoning === undefined ? null : { thinking_tokens: usage.reasoning },
    server_tool_use: serverTools(usage.serverTools),
  } satisfies JsonObject
}

function serverTools(counts: Frozen<Record<string, number>> | undefined): JsonObject | null {
  if (counts?.web_search_requests === undefined && counts?.web_fetch_requests === undefined) return null
  return { web_search_requests: 0, web_fetch_requests: 0, ...counts }
}
