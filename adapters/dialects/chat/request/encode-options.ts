// Encodes the scalar options of a chat request. OpenAI's own fields are sent only to its models, and for callers who sent them
// themselves. model-rules.ts applies the rules of the model afterwards.
import type { CanonicalRequest, Frozen, Json, JsonObject, OutputFormat } from '../../../../core/types/request/canonical.ts'
import type { CodecContext } from '../../../../core/types/request/dialect.ts'
import { effortOfBudget } from '../../shared/effort.ts'
import { qualifiesForStrict } from './encode-tools.ts'

type Request = Frozen<CanonicalRequest>

export function encodeOptions(request: Request, codec: CodecContext): JsonObject {
  const { sampling } = request
  const own = request.source === 'chat'
  // OpenAI's fields in addition to the common ones.
  const openai = own || codec.caps.family === 'gpt'
  return defined({
    max_tokens: request.maxTokens,
    temperature: sampling.temperature,
    top_p: sampling.topP,
    top_k: codec.quirks.topK ? sampling.topK : undefined,
    frequency_penalty: sampling.frequencyPenalty,
    presence_penalty: sampling.presencePenalty,
    logit_bias: sampling.logitBias as JsonObject | undefined,
    seed: sampling.seed,
    n: sampling.n,
    stop: stopEntries(request, codec),
    logprobs: request.logprobs?.enabled || (own && request.logprobs) ? request.logprobs?.enabled : undefined,
    top_logprobs: request.logprobs?.top,
    response_format: responseFormat(request.output, own, codec),
    reasoning_effort: effort(request, own, codec),
    verbosity: openai ? request.verbosity : undefined,
    user: request.endUser,
    safety_identifier: openai ? request.safetyId : undefined,
    metadata: own ? (request.metadata as JsonObject | undefined) : undefined,
    store: own ? request.state?.store : undefined,
    service_tier: serviceTier(request, openai, codec),
    modalities: modalities(request, openai, codec),
    audio: openai && request.audioOut ? { voice: request.audioOut.voice as Json, format: request.audioOut.format } : undefined,
    prompt_cache_key: openai ? request.cache?.key : undefined,
    prompt_cache_retention: openai ? request.cache?.retention : undefined,
    prompt_cache_options: own || codec.caps.cacheBreakpoints ? cacheOptions(request) : undefined,
    web_search_options: webSearch(request, own, codec),
  })
}

/** Returns the instruction that replaces a schema when the model supports only "some JSON object". */
export function schemaInstruction(request: Request, codec: CodecContext): string | null {
  const { output } = request
  if (output?.kind !== 'json_schema' || codec.caps.structuredOutputs !== false) return null
  return `Respond with one JSON object that follows this JSON schema:\n${JSON.stringify(output.schema ?? {})}`
}

function stopEntries(request: Request, codec: CodecContext): Json | undefined {
  const { stop } = request
  if (stop === undefined || stop.length === 0) return undefined
  const most = codec.quirks.maxStop ?? 4
  if (stop.length <= most) return [...stop]
  codec.warn('stop_truncated')
  return stop.slice(0, most)
}

function responseFormat(output: Frozen<OutputFormat> | undefined, own: boolean, codec: CodecContext): JsonObject | undefined {
  if (output === undefined) return undefined
  if (output.kind === 'text') return own ? { type: 'text' } : undefined
  if (output.kind === 'json_object') return { type: 'json_object' }
  if (output.kind === 'grammar') {
    if (own) return { type: 'grammar', ...(output.schema === undefined ? {} : { grammar: output.schema as Json }) }
    codec.warn('dropped_output_grammar')
    return undefined
  }
  if (codec.caps.structuredOutputs === false) {
    codec.warn('output_schema_as_instruction')
    return { type: 'json_object' }
  }
  const strict = output.strict === true ? qualifiesForStrict(output.schema) : output.strict
  const name = (output.name ?? 'response').replace(/[^a-zA-Z0-9_-]/g, '_').slice(0, 64) || 'response'
  return {
    type: 'json_schema',
    json_schema: defined({ name, description: output.description, schema: output.schema as Json | undefined, strict }),
  }
}

/** Reasoning is switched off only for models that are known to support it. */
function effort(request: Request, own: boolean, codec: CodecContext): string | undefined {
  const { reasoning } = request
  // The caller's own vendor field already sets it.
  if (reasoning === undefined || request.ext.chat?.reasoning !== undefined || request.ext.chat?.thinking !== undefined)
    return undefined
  const budget =
    reasoning.budgetTokens !== undefined && reasoning.budgetTokens >= 0 ? effortOfBudget(reasoning.budgetTokens) : undefined
  const wish = reasoning.effort ?? (reasoning.mode === 'disabled' ? 'none' : reasoning.mode === 'dynamic' ? undefined : budget)
  if (wish === 'none' && !own && codec.caps.efforts === undefined) return undefined
  return wish
}

function serviceTier({ serviceTier: tier }: Request, openai: boolean, codec: CodecContext): string | undefined {
  if (openai) return tier === 'standard_only' ? 'default' : tier
  // Other tiers are the default anyway.
  if (tier === 'flex' || tier === 'priority' || tier === 'scale') codec.warn('dropped_service_tier')
  return undefined
}

function modalities(request: Request, openai: boolean, codec: CodecContext): Json | undefined {
  const kinds = request.modalities
  if (kinds === undefined || kinds.every((kind) => kind === 'text')) return undefined
  if (openai || !kinds.includes('audio')) return [...kinds]
  codec.warn('dropped_modalities')
  return undefined
}

function cacheOptions(request: Request): JsonObject | undefined {
  const { cache } = request
  if (cache?.mode === undefined && cache?.auto?.ttl !== '30m') return undefined
  return defined({ mode: cache.mode, ttl: cache.auto?.ttl === '30m' ? '30m' : undefined })
}

function webSearch(request: Request, own: boolean, codec: CodecContext): JsonObject | undefined {
  const search = request.webSearch
  if (search === undefined) return undefined
  if (!own && codec.caps.webSearch !== true) {
    codec.warn('dropped_web_search')
    return undefined
  }
  if (search.allowedDomains !== undefined || search.blockedDomains !== undefined) codec.warn('dropped_web_search_filters')
  const place = search.userLocation as JsonObject | undefined
  const { type: _, ...approximate } = place ?? {}
  return defined({
    search_context_size: search.contextSize,
    user_location: place === undefined ? undefined : { type: 'approximate', approximate },
  })
}

/** Returns the object without undefined members. */
function defined(wire: Record<string, Json | undefined>): JsonObject {
  const out: JsonObject = {}
  for (const key in wire) if (wire[key] !== undefined) out[key] = wire[key]
  return out
}
