// Decodes sampling, reasoning, output format and the other scalar options of a chat request.
import type {
  CanonicalRequest,
  Effort,
  Json,
  JsonObject,
  OutputFormat,
  ReasoningOptions,
  Sampling,
} from '../../../../core/types/request/canonical.ts'
import {
  isObject,
  optionalArray,
  optionalBoolean,
  optionalNumber,
  optionalObject,
  optionalString,
  text,
  wrongType,
} from '../read.ts'

type Options = Partial<
  Omit<CanonicalRequest, 'model' | 'stream' | 'source' | 'system' | 'messages' | 'tools' | 'headers' | 'ext'>
>

const EFFORTS: ReadonlySet<string> = new Set(['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'])
const TIERS: ReadonlySet<string> = new Set(['auto', 'default', 'flex', 'priority', 'scale'])

/** Absent options stay absent. Values without a canonical form stay in `ext`. */
export function decodeOptions(wire: JsonObject): Options & { sampling: Sampling } {
  const options: Options & { sampling: Sampling } = { sampling: decodeSampling(wire) }
  const put = <K extends keyof Options>(key: K, value: Options[K] | undefined) => {
    if (value !== undefined) Object.assign(options, { [key]: value })
  }
  put('parallelToolCalls', optionalBoolean(wire, 'parallel_tool_calls'))
  put('output', decodeOutput(optionalObject(wire, 'response_format')))
  put('reasoning', decodeReasoningOptions(wire))
  put('verbosity', oneOf(optionalString(wire, 'verbosity'), ['low', 'medium', 'high']))
  put('maxTokens', larger(optionalNumber(wire, 'max_completion_tokens'), optionalNumber(wire, 'max_tokens')))
  put('stop', decodeStop(wire.stop))
  put('logprobs', decodeLogprobs(wire))
  put(
    'modalities',
    optionalArray(wire, 'modalities')?.filter((kind) => kind === 'text' || kind === 'audio' || kind === 'image'),
  )
  const audio = optionalObject(wire, 'audio')
  if (audio !== undefined) put('audioOut', { voice: audio.voice ?? null, format: text(audio.format) ?? 'wav' })
  put('endUser', text(optionalString(wire, 'user')))
  put('safetyId', text(optionalString(wire, 'safety_identifier')))
  put('metadata', optionalObject(wire, 'metadata') as Record<string, string> | undefined)
  put('cache', decodeCache(wire))
  const tier = optionalString(wire, 'service_tier')
  if (tier !== undefined && TIERS.has(tier)) put('serviceTier', tier as CanonicalRequest['serviceTier'])
  put('webSearch', decodeWebSearch(optionalObject(wire, 'web_search_options')))
  const store = optionalBoolean(wire, 'store')
  if (store !== undefined) put('state', { store })
  const streamOptions = optionalObject(wire, 'stream_options')
  if (streamOptions !== undefined) put('includeUsage', streamOptions.include_usage === true)
  return options
}

/** Returns whether `decodeOptions` has decoded this member completely. */
export function understood(key: string, value: Json): boolean {
  if (key === 'reasoning_effort') return typeof value === 'string' && EFFORTS.has(value)
  if (key === 'service_tier') return typeof value === 'string' && TIERS.has(value)
  if (key === 'response_format') return isObject(value) && decodeOutput(value) !== undefined
  return true
}

/** Returns the larger of two limits: upstreams differ in which one they apply. */
function larger(a: number | undefined, b: number | undefined): number | undefined {
  return a === undefined || b === undefined ? (a ?? b) : Math.max(a, b)
}

function decodeSampling(wire: JsonObject): Sampling {
  const sampling: Sampling = {}
  const put = (key: Exclude<keyof Sampling, 'logitBias'>, field: string) => {
    const value = optionalNumber(wire, field)
    if (value !== undefined) sampling[key] = value
  }
  put('temperature', 'temperature')
  put('topP', 'top_p')
  put('topK', 'top_k')
  put('frequencyPenalty', 'frequency_penalty')
  put('presencePenalty', 'presence_penalty')
  put('seed', 'seed')
  put('n', 'n')
  const bias = optionalObject(wire, 'logit_bias')
  if (bias !== undefined) sampling.logitBias = bias as Record<string, number>
  return sampling
}

function decodeOutput(format: JsonObject | undefined): OutputFormat | undefined {
  if (format === undefined) return undefined
  if (format.type === 'text' || format.type === 'json_object') return { kind: format.type }
  if (format.type === 'grammar') return { kind: 'grammar', ...(format.grammar === undefined ? {} : { schema: format.grammar }) }
  if (format.type !== 'json_schema') return undefined
  const at = 'response_format.json_schema.'
  const json = optionalObject(format, 'json_schema', 'response_format.') ?? {}
  const name = optionalString(json, 'name', at)
  const description = optionalString(json, 'description', at)
  const strict = optionalBoolean(json, 'strict', at)
  const schema = json.schema ?? undefined
  return {
    kind: 'json_schema',
    ...(name === undefined ? {} : { name }),
    ...(description === undefined ? {} : { description }),
    ...(schema === undefined ? {} : { schema }),
    ...(strict === undefined ? {} : { strict }),
  }
}

/** Reads `reasoning_effort`, otherwise the equivalent fields of OpenRouter (`reasoning`) and LiteLLM clients (`thinking`). */
function decodeReasoningOptions(wire: JsonObject): ReasoningOptions | undefined {
  const effort = optionalString(wire, 'reasoning_effort')
  if (effort !== undefined) return EFFORTS.has(effort) ? { effort: effort as Effort } : undefined
  if (isObject(wire.reasoning)) {
    const { reasoning } = wire
    const wish = text(reasoning.effort)
    if (wish !== undefined && EFFORTS.has(wish)) return { effort: wish as Effort }
    if (typeof reasoning.max_tokens === 'number') return { mode: 'enabled', budgetTokens: reasoning.max_tokens }
    if (reasoning.enabled === false) return { mode: 'disabled' }
  }
  if (isObject(wire.thinking)) {
    const { thinking } = wire
    if (thinking.type === 'disabled') return { mode: 'disabled' }
    if (thinking.type === 'adaptive') return { mode: 'adaptive' }
    if (thinking.type === 'enabled') {
      return { mode: 'enabled', ...(typeof thinking.budget_tokens === 'number' ? { budgetTokens: thinking.budget_tokens } : {}) }
    }
  }
  return undefined
}

function decodeStop(stop: Json | undefined): string[] | undefined {
  if (stop === undefined || stop === null) return undefined
  const list = typeof stop === 'string' ? [stop] : stop
  if (!Array.isArray(list) || !list.every((entry) => typeof entry === 'string'))
    throw wrongType('stop', 'a string or an array of strings')
  return list.length > 0 ? list : undefined
}

function decodeLogprobs(wire: JsonObject): CanonicalRequest['logprobs'] {
  const enabled = optionalBoolean(wire, 'logprobs')
  const top = optionalNumber(wire, 'top_logprobs')
  if (enabled === undefined && top === undefined) return undefined
  return { enabled: enabled ?? false, ...(top === undefined ? {} : { top }) }
}

function decodeCache(wire: JsonObject): CanonicalRequest['cache'] {
  const key = text(optionalString(wire, 'prompt_cache_key'))
  const retention = text(optionalString(wire, 'prompt_cache_retention'))
  const options = optionalObject(wire, 'prompt_cache_options')
  const mode = oneOf(text(options?.mode), ['implicit', 'explicit'])
  if (key === undefined && retention === undefined && options === undefined) return undefined
  return {
    ...(key === undefined ? {} : { key }),
    ...(retention === undefined ? {} : { retention }),
    ...(mode === undefined ? {} : { mode }),
    ...(options?.ttl === '30m' ? { auto: { ttl: '30m' } } : {}),
  }
}

/** The canonical form of the user's location is flat (`{type:"approximate", city, …}`); chat nests it. */
function decodeWebSearch(options: JsonObject | undefined): CanonicalRequest['webSearch'] {
  if (options === undefined) return undefined
  const size = text(options.search_context_size)
  const place = isObject(options.user_location) ? options.user_location : null
  const flat = place !== null && isObject(place.approximate) ? { type: 'approximate', ...place.approximate } : place
  return { ...(size === undefined ? {} : { contextSize: size }), ...(flat === null ? {} : { userLocation: flat }) }
}

function oneOf<T extends string>(value: string | undefined, words: readonly T[]): T | undefined {
  return words.find((word) => word === value)
}
