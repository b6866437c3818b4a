// Usage in both directions. Wire totals are inclusive already (DIALECTS 2.5); vendors differ in where they put them.
import type { Usage } from '../../../core/types/answer.ts'
import type { Frozen, Json, JsonObject } from '../../../core/types/canonical.ts'
import type { Quirks } from '../../../core/types/dialect.ts'
import { isObject } from './read.ts'

/** The usage object of an answer or chunk, wherever the vendor hides it (top level, groq, moonshot); null when absent. */
export function findUsage(answer: JsonObject): JsonObject | null {
  if (isObject(answer.usage)) return answer.usage
  if (isObject(answer.x_groq) && isObject(answer.x_groq.usage)) return answer.x_groq.usage
  const first = Array.isArray(answer.choices) ? answer.choices[0] : undefined
  return isObject(first) && isObject(first.usage) ? first.usage : null
}

/** Null when the counters are missing or nonsense (negative, not numbers): then nobody reported. */
export function decodeUsage(wire: JsonObject | null, quirks: Readonly<Quirks>): Usage | null {
  if (wire === null) return null
  if (absent(wire.prompt_tokens) && absent(wire.completion_tokens)) return null
  const prompt = absent(wire.prompt_tokens) ? 0 : wire.prompt_tokens
  const completion = absent(wire.completion_tokens) ? 0 : wire.completion_tokens
  if (!isCount(prompt) || !isCount(completion)) return null

  const input = isObject(wire.prompt_tokens_details) ? wire.prompt_tokens_details : {}
  const output = isObject(wire.completion_tokens_details) ? wire.completion_tokens_details : {}
  const reasoning = firstCount(output.reasoning_tokens, wire.reasoning_tokens)
  const outputTotal = completion + outsideReasoning(prompt, completion, reasoning ?? 0, wire.total_tokens, quirks)
  const usage: Usage = {
    inputTotal: prompt,
    cacheRead: Math.min(firstCount(input.cached_tokens, wire.prompt_cache_hit_tokens, wire.cached_tokens) ?? 0, prompt),
    cacheWrite: firstCount(input.cache_write_tokens, wire.cache_creation_input_tokens) ?? 0,
    outputTotal,
    total: Math.max(firstCount(wire.total_tokens) ?? 0, prompt + outputTotal),
    estimated: false,
    raw: wire,
  }
  if (isCount(input.audio_tokens)) usage.inputAudio = input.audio_tokens
  if (reasoning !== undefined) usage.reasoning = reasoning
  if (isCount(output.audio_tokens)) usage.outputAudio = output.audio_tokens
  if (isCount(output.accepted_prediction_tokens)) usage.acceptedPrediction = output.accepted_prediction_tokens
  if (isCount(output.rejected_prediction_tokens)) usage.rejectedPrediction = output.rejected_prediction_tokens
  return usage
}

/** Usage of an upstream that reported none; whoever settles estimates. */
export function missingUsage(): Usage {
  return { inputTotal: 0, cacheRead: 0, cacheWrite: 0, outputTotal: 0, total: 0, estimated: true, raw: null }
}

export function encodeUsage(usage: Frozen<Usage>): JsonObject {
  return {
    prompt_tokens: usage.inputTotal,
    completion_tokens: usage.outputTotal,
    total_tokens: usage.total,
    prompt_tokens_details: {
      cached_tokens: usage.cacheRead,
      cache_write_tokens: usage.cacheWrite,
      audio_tokens: usage.inputAudio ?? 0,
    },
    completion_tokens_details: {
      reasoning_tokens: usage.reasoning ?? 0,
      audio_tokens: usage.outputAudio ?? 0,
      accepted_prediction_tokens: usage.acceptedPrediction ?? 0,
      rejected_prediction_tokens: usage.rejectedPrediction ?? 0,
    },
  }
}

/** xAI counts reasoning beside completion_tokens; the total tells (DIALECTS 2.1). */
function outsideReasoning(
  prompt: number,
  completion: number,
  reasoning: number,
  total: Json | undefined,
  quirks: Readonly<Quirks>,
): number {
  if (reasoning === 0) return 0
  if (isCount(total)) return total === prompt + completion + reasoning ? reasoning : 0
  return quirks.reasoningOutsideCompletion === true ? reasoning : 0
}

function firstCount(...values: (Json | undefined)[]): number | undefined {
  return values.find(isCount)
}

function isCount(value: Json | undefined): value is number {
  return typeof value === 'number' && Number.isFinite(value) && value >= 0
}

function absent(value: Json | undefined): boolean {
  return value === undefined || value === null
}
