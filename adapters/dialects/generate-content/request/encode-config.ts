// Encodes sampling, limits, output format and reasoning as generationConfig.
import type { CanonicalRequest, Frozen, JsonObject } from '../../../../core/types/request/canonical.ts'
import type { CodecContext } from '../../../../core/types/request/dialect.ts'
import { isObject } from '../fields.ts'
import { jsonSchema } from './schema-json.ts'
import { legacySchema } from './schema-legacy.ts'
import { thinkingConfig } from './thinking.ts'

const MAX_STOP = 5
const MAX_LOGPROBS = 20
const INT32 = 0x7fffffff

/** `instruction`: text that replaces a schema, because the model accepts no schema together with functions. */
export interface EncodedConfig {
  config: JsonObject
  instruction: string | null
}

export function encodeConfig(request: Frozen<CanonicalRequest>, codec: CodecContext, hasFunctions: boolean): EncodedConfig {
  const own = request.ext.generate_content?.generationConfig
  const config: JsonObject = isObject(own) ? { ...own } : {}
  addSampling(config, request, codec)
  if (request.maxTokens !== undefined) config.maxOutputTokens = request.maxTokens
  addStop(config, request, codec)
  addLogprobs(config, request, codec)
  addModalities(config, request, codec)
  const thinking = thinkingConfig(request, codec)
  if (thinking !== undefined) config.thinkingConfig = thinking
  return { config, instruction: addOutput(config, request, codec, hasFunctions) }
}

function addSampling(config: JsonObject, request: Frozen<CanonicalRequest>, codec: CodecContext): void {
  const { temperature, topP, topK, frequencyPenalty, presencePenalty, logitBias, seed, n } = request.sampling
  if (temperature !== undefined) {
    const max = codec.caps.temperatureMax ?? 2
    if (temperature > max) codec.warn('temperature_clamped')
    config.temperature = Math.min(temperature, max)
  }
  if (topP !== undefined) config.topP = topP
  if (topK !== undefined) config.topK = topK
  if (codec.quirks.noPenalties) {
    if (frequencyPenalty || presencePenalty) codec.warn('dropped_penalties')
  } else {
    if (frequencyPenalty !== undefined) config.frequencyPenalty = frequencyPenalty
    if (presencePenalty !== undefined) config.presencePenalty = presencePenalty
  }
  if (logitBias !== undefined && Object.keys(logitBias).length > 0) codec.warn('dropped_logit_bias')
  if (seed !== undefined) {
    // Gemini's seed is an int32: a larger seed is folded, so that equal seeds stay equal.
    const fits = Math.abs(seed) <= INT32
    if (!fits) codec.warn('seed_folded')
    config.seed = fits ? seed : seed % INT32
  }
  if (n !== undefined && (n > 1 || request.source === 'generate_content')) config.candidateCount = n
}

function addStop(config: JsonObject, request: Frozen<CanonicalRequest>, codec: CodecContext): void {
  const stop = request.stop?.filter((text) => text !== '') ?? []
  if (stop.length === 0) return
  if (codec.quirks.noStop || codec.caps.stopSupported === false) {
    codec.warn('dropped_stop')
    return
  }
  const max = Math.min(codec.quirks.maxStop ?? MAX_STOP, MAX_STOP)
  if (stop.length > max) codec.warn('stop_truncated')
  config.stopSequences = stop.slice(0, max)
}

function addLogprobs(config: JsonObject, request: Frozen<CanonicalRequest>, codec: CodecContext): void {
  const { logprobs } = request
  if (logprobs === undefined || (!logprobs.enabled && request.source !== 'generate_content')) return
  if (codec.quirks.noLogprobs) {
    codec.warn('dropped_logprobs')
    return
  }
  config.responseLogprobs = logprobs.enabled
  if (logprobs.top === undefined || !logprobs.enabled) return
  if (logprobs.top > MAX_LOGPROBS) codec.warn('logprobs_clamped')
  // Zero alternatives is the default, but not a legal value.
  if (logprobs.top > 0) config.logprobs = Math.min(logprobs.top, MAX_LOGPROBS)
}

function addModalities(config: JsonObject, request: Frozen<CanonicalRequest>, codec: CodecContext): void {
  const modalities = request.modalities ?? []
  if (
    config.responseModalities === undefined &&
    (modalities.length > 1 || (modalities.length === 1 && modalities[0] !== 'text'))
  ) {
    config.responseModalities = modalities.map((name) => name.toUpperCase())
  }
  // Every vendor has other voice names.
  if (request.audioOut !== undefined && request.source !== 'generate_content') codec.warn('dropped_audio_voice')
}

function addOutput(
  config: JsonObject,
  request: Frozen<CanonicalRequest>,
  codec: CodecContext,
  hasFunctions: boolean,
): string | null {
  const { output } = request
  if (output === undefined || output.kind === 'text') return null
  if (output.kind === 'grammar') {
    codec.warn('dropped_output_grammar')
    return null
  }
  const schema = output.kind === 'json_schema' ? output.schema : undefined
  if (codec.caps.structuredOutputs === false || (hasFunctions && codec.caps.jsonWithTools === false)) {
    codec.warn('output_schema_as_instruction')
    return schema === undefined
      ? 'Respond with one JSON object only.'
      : `Respond with JSON only, valid against this JSON Schema: ${JSON.stringify(schema)}`
  }
  config.responseMimeType = 'application/json'
  if (schema === undefined) return null
  if (codec.caps.jsonSchema === false) config.responseSchema = legacySchema(schema)
  else config.responseJsonSchema = jsonSchema(schema)
  return null
}
