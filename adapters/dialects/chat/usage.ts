// Converts usage in both directions. Wire totals are inclusive already; vendors differ in the fields.
import { tokenCount } from '../../../core/models/token-count.ts'
import type { Usage } from '../../../core/types/request/answer.ts'
import type { Frozen, Json, JsonObject } from '../../../core/types/request/canonical.ts'
import type { Quirks } from '../../../core/types/request/dialect.ts'
import { isObject } from './read.ts'

/** Returns the usage object of an answer or chunk from any vendor's place (top level, groq, moonshot); null when absent. */
export function findUsage(answer: JsonObject): JsonObject | null {
  if (isObject(answer.usage)) return answer.usage
  if (isObject(answer.x_groq) && isObject(answer.x_groq.usage)) return answer.x_groq.usage
  const first = Array.isArray(answer.choices) ? answer.choices[0] : undefined
  return isObject(first) && isObject(first.usage) ? first.usage : null
}

/** Returns null when counters are missing or impossible (negative, not numbers): usage was not reported. */
export function decodeUsage(wire: JsonObject | null, quirks: Readonly<Quirks>): Usage | null {
  if (wire === null) return null
  if (absent(wire.prompt_tokens) && absent(wire.completion_tokens)) return null
  const prompt = tokenCount(absent(wire.prompt_tokens) ? 0 : wire.prompt_tokens)
  const completion = tokenCount(absent(wire.completion_tokens) ? 0 : wire.completion_tokens)
  if (prompt === undefined || completion === undefined) return null

  const input = isObject(wire.prompt_tokens_details) ? wire.prompt_tokens_details : {}
  const output = isObject(wire.completion_tokens_details) ? wire.completion_tokens_details : {}
  const reasoning = firstCount(output.reasoning_tokens, wire.reasoning_tokens)
  const outputTotal = completion + outsideReasoning(prompt, completion, reasoning ?? 0, wire.total_tokens, quirks)
  const cacheRead = Math.min(firstCount(input.cached_tokens, wire.prompt_cache_hit_tokens, wire.cached_tokens) ?? 0, prompt)
  const usage: Usage = {
    inputTotal: prompt,
    cacheRead,
    cacheWrite: Math.min(firstCount(input.cache_write_tokens, wire.cache_creation_input_tokens) ?? 0, prompt - cacheRead),
    outputTotal,
    total: Math.max(firstCount(wire.total_tokens) ?? 0, prompt + outputTotal),
    estimated: false,
    raw: wire,
  }
  const inputAudio = tokenCount(input.audio_tokens)
  if (inputAudio !== undefined) usage.inputAudio = inputAudio
  if (reasoning !== undefined) usage.reasoning = Math.min(reasoning, outputTotal)
  const outputAudio = tokenCount(output.audio_tokens)
  if (outputAudio !== undefined) usage.outputAudio = outputAudio
  const accepted = tokenCount(output.accepted_prediction_tokens)
  if (accepted !== undefined) usage.acceptedPrediction = accepted
  const rejected = tokenCount(output.rejected_prediction_tokens)
  if (rejected !== undefined) usage.rejectedPrediction = rejected
  return usage
}

/** Returns the usage for an upstream that reported none. Settlement estimates it. */
export function missingUsage(): Usage {
  return { inputTotal: 0, cacheRead: 0, cacheWrite: 0, outputTotal: 0, total: 0, estimated: true, raw: null }
}

/** Adds the vendor's other members (a cost, for example) when the upstream speaks this dialect too. */
export function encodeUsage(usage: Frozen<Usage>): JsonObject {
  const raw = ownReport(usage)
  return {
    ...raw,
    prompt_tokens: usage.inputTotal,
    completion_tokens: usage.outputTotal,
    total_tokens: usage.total,
    prompt_tokens_details: {
      ...(raw?.prompt_tokens_details as JsonObject | null | undefined),
      cached_tokens: usage.cacheRead,
      cache_write_tokens: usage.cacheWrite,
      audio_tokens: usage.inputAudio ?? 0,
    },
    completion_tokens_details: {
      ...(raw?.completion_tokens_details as JsonObject | null | undefined),
      reasoning_tokens: usage.reasoning ?? 0,
      audio_tokens: usage.outputAudio ?? 0,
      accepted_prediction_tokens: usage.acceptedPrediction ?? 0,
      rejected_prediction_tokens: usage.rejectedPrediction ?? 0,
    },
  }
}

/** Returns undefined for a report of another dialect, or one that counts were added to. */
function ownReport({ raw, inputTotal, estimated }: Frozen<Usage>): JsonObject | undefined {
  return !estimated && isObject(raw) && raw.prompt_tokens === inputTotal ? raw : undefined
}

/** xAI counts reasoning outside completion_tokens; the total shows it. */
function outsideReasoning(
  prompt: number,
  completion: number,
  reasoning: number,
  total: Json | undefined,
  quirks: Readonly<Quirks>,
): number {
  if (reasoning === 0) return 0
  const stated = tokenCount(total)
  if (stated !== undefined) return stated === prompt + completion + reasoning ? reasoning : 0
  return quirks.reasoningOutsideCompletion === true ? reasoning : 0
}

function firstCount(...values: (Json | undefined)[]): number | undefined {
  for (const value of values) {
    const count = tokenCount(value)
    if (count !== undefined) return count
  }
  return undefined
}

function absent(value: Json | undefined): boolean {
  return value === undefined || value === null
}
