// Converts token counts: `input_tokens` and `output_tokens` are inclusive, as in the canonical form.
import { tokenCount } from '../../../core/models/token-count.ts'
import { noUsage } from '../../../core/models/token-estimate.ts'
import type { Usage } from '../../../core/types/request/answer.ts'
import type { Frozen, Json, JsonObject } from '../../../core/types/request/canonical.ts'
import type { Quirks } from '../../../core/types/request/dialect.ts'
import { isObject } from '../shared/fields.ts'

/** Returns null when the upstream reported none, or an impossible count. */
export function decodeUsage(raw: Json | undefined, quirks: Readonly<Quirks>): Usage | null {
  if (!isObject(raw)) return null
  const inputTotal = tokenCount(raw.input_tokens)
  let outputTotal = tokenCount(raw.output_tokens)
  if (inputTotal === undefined || outputTotal === undefined) return null
  const input = isObject(raw.input_tokens_details) ? raw.input_tokens_details : {}
  const output = isObject(raw.output_tokens_details) ? raw.output_tokens_details : {}
  const reasoning = tokenCount(output.reasoning_tokens)
  const stated = tokenCount(raw.total_tokens)
  if (quirks.reasoningOutsideCompletion && reasoning && stated === inputTotal + outputTotal + reasoning) outputTotal += reasoning
  const cacheRead = Math.min(tokenCount(input.cached_tokens) ?? 0, inputTotal)
  return {
    inputTotal,
    cacheRead,
    cacheWrite: Math.min(tokenCount(input.cache_write_tokens) ?? 0, inputTotal - cacheRead),
    outputTotal,
    ...(reasoning === undefined ? {} : { reasoning: Math.min(reasoning, outputTotal) }),
    total: stated ?? inputTotal + outputTotal,
    estimated: false,
    raw,
  }
}

/** Returns the usage for an answer without a report. The core estimates it. */
export function missingUsage(): Usage {
  return { ...noUsage(), estimated: true }
}

/** Always returns all three totals and both detail objects. */
export function encodeUsage(usage: Frozen<Usage>): JsonObject {
  const raw = ownReport(usage)
  return {
    ...raw,
    input_tokens: usage.inputTotal,
    input_tokens_details: {
      ...details(raw?.input_tokens_details),
      cached_tokens: usage.cacheRead,
      cache_write_tokens: usage.cacheWrite,
    },
    output_tokens: usage.outputTotal,
    output_tokens_details: { ...details(raw?.output_tokens_details), reasoning_tokens: usage.reasoning ?? 0 },
    total_tokens: usage.total,
  }
}

/** Returns the vendor's own report with its other members; undefined when it spoke another dialect or counts were added. */
function ownReport({ raw, inputTotal, total, estimated }: Frozen<Usage>): JsonObject | undefined {
  return !estimated && isObject(raw) && raw.input_tokens === inputTotal && raw.total_tokens === total ? raw : undefined
}

function details(value: Json | undefined): JsonObject | undefined {
  return isObject(value) ? value : undefined
}

/** Adds the members that strict clients need to the report; returns null when nothing is missing. */
export function completedUsage(raw: Json | undefined): JsonObject | null {
  if (!isObject(raw)) return null
  const input = isObject(raw.input_tokens_details) ? raw.input_tokens_details : null
  const output = isObject(raw.output_tokens_details) ? raw.output_tokens_details : null
  if (
    typeof raw.total_tokens === 'number' &&
    typeof input?.cached_tokens === 'number' &&
    typeof output?.reasoning_tokens === 'number'
  )
    return null
  const sum = (tokenCount(raw.input_tokens) ?? 0) + (tokenCount(raw.output_tokens) ?? 0)
  return {
    input_tokens: 0,
    output_tokens: 0,
    ...raw,
    input_tokens_details: { cached_tokens: 0, cache_write_tokens: 0, ...input },
    output_tokens_details: { reasoning_tokens: 0, ...output },
    total_tokens: tokenCount(raw.total_tokens) ?? sum,
  }
}
