// Encodes sampling, reasoning and text options for a responses upstream. It clamps or drops values with a warning and never refuses.
import type { CanonicalRequest, Effort, Frozen, JsonObject, OutputFormat } from '../../../../core/types/request/canonical.ts'
import type { CodecContext } from '../../../../core/types/request/dialect.ts'
import { clampEffort, effortOfBudget } from '../../shared/effort.ts'
import { isObject } from '../../shared/fields.ts'
import { isStrictSchema } from './strict-schema.ts'

/** The model is known to reason. For an unknown model a request for reasoning decides. */
export function isReasoningModel(request: Frozen<CanonicalRequest>, codec: CodecContext): boolean {
  return codec.caps.reasoning ?? (effortOf(request) ?? 'none') !== 'none'
}

export function encodeSampling(request: Frozen<CanonicalRequest>, codec: CodecContext): object {
  const { temperature, topP, presencePenalty, frequencyPenalty, seed, logitBias } = request.sampling
  const own = request.source === 'responses'
  for (const [value, slug] of [
    [own ? undefined : presencePenalty, 'dropped_presence_penalty'],
    [own ? undefined : frequencyPenalty, 'dropped_frequency_penalty'],
    [seed, 'dropped_seed'],
    [logitBias, 'dropped_logit_bias'],
    [request.stop?.length ? request.stop : undefined, 'dropped_stop'],
    [request.ext.chat?.prediction, 'dropped_prediction'],
  ] as const) {
    if (value !== undefined) codec.warn(slug)
  }
  if (request.speed === 'fast') codec.warn('dropped_speed')
  return {
    ...sampled('temperature', clampedTemperature(temperature, codec), request, codec),
    ...sampled('top_p', topP, request, codec),
    // The vendor's own API does not have it, but the open variant of this format does.
    ...(own && presencePenalty !== undefined ? { presence_penalty: presencePenalty } : {}),
    ...(own && frequencyPenalty !== undefined ? { frequency_penalty: frequencyPenalty } : {}),
  }
}

export function encodeReasoning(request: Frozen<CanonicalRequest>, codec: CodecContext, own: Frozen<JsonObject>): object {
  const rest = isObject(own.reasoning) ? own.reasoning : {}
  const wish = effortOf(request)
  if (codec.caps.reasoning === false && request.source !== 'responses') {
    if (wish !== undefined && wish !== 'none') codec.warn('dropped_reasoning')
    return {}
  }
  const effort = wish === undefined ? undefined : clampEffort(wish, codec.caps.efforts)
  if (effort !== wish) codec.warn('reasoning_clamped')
  const summary = summaryOf(request)
  const reasoning = { ...rest, ...(effort === undefined ? {} : { effort }), ...(summary === undefined ? {} : { summary }) }
  return Object.keys(reasoning).length === 0 ? {} : { reasoning }
}

export function encodeText(request: Frozen<CanonicalRequest>, codec: CodecContext, own: Frozen<JsonObject>): object {
  const rest = isObject(own.text) ? own.text : {}
  const format = request.output === undefined ? undefined : encodeFormat(request.output, request.source)
  if (request.output !== undefined && format === undefined) codec.warn('dropped_response_format')
  const text = {
    ...rest,
    ...(format === undefined ? {} : { format }),
    ...(request.verbosity === undefined ? {} : { verbosity: request.verbosity }),
  }
  return Object.keys(text).length === 0 ? {} : { text }
}

/** Also used for the echo. Returns undefined for a kind that this API does not have. */
export function encodeFormat(output: Frozen<OutputFormat>, source: string): object | undefined {
  if (output.kind === 'text' || output.kind === 'json_object') return { type: output.kind }
  if (output.kind !== 'json_schema') return undefined
  // messages and generate-content always enforce the schema, without a field for it.
  const implied = source === 'messages' || source === 'generate_content'
  const strict = output.strict ?? (implied ? isStrictSchema(output.schema) : undefined)
  return {
    type: 'json_schema',
    name: (output.name ?? '').replace(/[^a-zA-Z0-9_-]/g, '_').slice(0, 64) || 'response',
    ...(output.description === undefined ? {} : { description: output.description }),
    schema: output.schema ?? {},
    ...(strict === undefined ? {} : { strict }),
  }
}

function effortOf(request: Frozen<CanonicalRequest>): Effort | undefined {
  const { reasoning } = request
  if (reasoning === undefined) return undefined
  if (reasoning.mode === 'disabled') return 'none'
  return reasoning.effort ?? (reasoning.budgetTokens === undefined ? undefined : effortOfBudget(reasoning.budgetTokens))
}

/** Returns `auto` when the caller shows reasoning: it requested thoughts, or enabled thinking in a dialect that displays it. */
function summaryOf(request: Frozen<CanonicalRequest>): string | undefined {
  const { reasoning, source } = request
  if (reasoning?.summary !== undefined) return reasoning.summary === 'omitted' ? undefined : reasoning.summary
  if (reasoning?.includeThoughts) return 'auto'
  const on = reasoning?.mode === 'enabled' || reasoning?.mode === 'adaptive' || reasoning?.mode === 'between_tools'
  return source === 'messages' && on ? 'auto' : undefined
}

function clampedTemperature(temperature: number | undefined, codec: CodecContext): number | undefined {
  const max = codec.caps.temperatureMax
  if (temperature === undefined || max === undefined || temperature <= max) return temperature
  codec.warn('temperature_clamped')
  return max
}

/** Reasoning models accept no sampling parameters unless reasoning is off. */
function sampled(
  field: 'temperature' | 'top_p',
  value: number | undefined,
  request: Frozen<CanonicalRequest>,
  codec: CodecContext,
): object {
  if (value === undefined) return {}
  const { sampling, efforts } = codec.caps
  const off = effortOf(request) === 'none' && (efforts === undefined || efforts.includes('none'))
  const free = sampling === undefined || sampling === 'free' || off || (sampling === 'default_only' && value === 1)
  if (free) return { [field]: value }
  if (value !== 1) codec.warn(`dropped_${field}`)
  return {}
}
