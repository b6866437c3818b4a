// Decodes generationConfig and related members. Members that only Gemini has are returned and kept as ext.
import { GatewayError } from '../../../../core/errors/gateway-error.ts'
import type {
  CanonicalRequest,
  Effort,
  Json,
  JsonObject,
  OutputFormat,
  ReasoningOptions,
} from '../../../../core/types/request/canonical.ts'
import { booleanField, fieldsOf, listField, numberField, textField, textList } from '../fields.ts'
import { jsonSchemaOf } from './schema-in.ts'

const LEVELS: Readonly<Record<string, Effort>> = { minimal: 'minimal', low: 'low', medium: 'medium', high: 'high' }
const MODALITIES = ['text', 'audio', 'image'] as const

/** Sets options on the request; returns the remaining fields. */
export function decodeConfig(value: Json | undefined, request: CanonicalRequest): JsonObject {
  if (value === undefined) return {}
  const {
    temperature,
    topP,
    topK,
    candidateCount,
    maxOutputTokens,
    stopSequences,
    responseLogprobs,
    logprobs,
    presencePenalty,
    frequencyPenalty,
    seed,
    responseModalities,
    thinkingConfig,
    responseMimeType,
    responseSchema,
    responseJsonSchema,
    _responseJsonSchema,
    ...rest
  } = fieldsOf(value, 'generationConfig')
  request.sampling = defined({
    temperature: number(temperature, 'temperature'),
    topP: number(topP, 'topP'),
    topK: number(topK, 'topK'),
    frequencyPenalty: number(frequencyPenalty, 'frequencyPenalty'),
    presencePenalty: number(presencePenalty, 'presencePenalty'),
    seed: number(seed, 'seed'),
    n: number(candidateCount, 'candidateCount'),
  })
  const maxTokens = number(maxOutputTokens, 'maxOutputTokens')
  if (maxTokens !== undefined) request.maxTokens = maxTokens
  const stop = textList(stopSequences, 'generationConfig.stopSequences')
  if (stop !== undefined && stop.length > 0) request.stop = stop
  const enabled = booleanField(responseLogprobs, 'generationConfig.responseLogprobs')
  const top = number(logprobs, 'logprobs')
  if (enabled !== undefined || top !== undefined) {
    request.logprobs = { enabled: enabled ?? top !== undefined, ...(top === undefined ? {} : { top }) }
  }
  const reasoning = decodeThinking(thinkingConfig)
  if (reasoning !== undefined) request.reasoning = reasoning
  const residue: JsonObject = { ...rest, ...decodeModalities(responseModalities, request) }
  const mime = textField(responseMimeType, 'generationConfig.responseMimeType')
  const schema =
    responseJsonSchema ?? _responseJsonSchema ?? (responseSchema === undefined ? undefined : jsonSchemaOf(responseSchema))
  const output = outputOf(mime, schema)
  if (output !== undefined) request.output = output
  else if (mime !== undefined && mime !== 'text/plain') {
    residue.responseMimeType = mime
    if (responseSchema !== undefined) residue.responseSchema = responseSchema
    if (responseJsonSchema !== undefined) residue.responseJsonSchema = responseJsonSchema
  }
  return residue
}

/** Returns Gemini's tier in canonical terms; undefined for "unspecified". */
export function decodeServiceTier(value: Json | undefined): CanonicalRequest['serviceTier'] {
  const tier = textField(value, 'serviceTier')?.toLowerCase().replace('service_tier_', '')
  if (tier === 'standard') return 'default'
  return tier === 'flex' || tier === 'priority' ? tier : undefined
}

function outputOf(mime: string | undefined, schema: Json | undefined): OutputFormat | undefined {
  if (mime !== undefined && mime !== 'application/json') return undefined
  if (schema !== undefined) return { kind: 'json_schema', schema }
  return mime === undefined ? undefined : { kind: 'json_object' }
}

function decodeThinking(value: Json | undefined): ReasoningOptions | undefined {
  if (value === undefined) return undefined
  const config = fieldsOf(value, 'generationConfig.thinkingConfig')
  const includeThoughts = booleanField(config.includeThoughts, 'generationConfig.thinkingConfig.includeThoughts')
  const budget = numberField(config.thinkingBudget, 'generationConfig.thinkingConfig.thinkingBudget')
  const level = textField(config.thinkingLevel, 'generationConfig.thinkingConfig.thinkingLevel')
  const out: ReasoningOptions = {}
  if (includeThoughts !== undefined) out.includeThoughts = includeThoughts
  const effort = level === undefined ? undefined : LEVELS[level.toLowerCase()]
  if (effort !== undefined) out.effort = effort
  if (budget === 0) {
    out.mode = 'disabled'
    out.effort ??= 'none'
  } else if (budget !== undefined && budget < 0) out.mode = 'dynamic'
  else if (budget !== undefined) {
    out.mode = 'enabled'
    out.budgetTokens = budget
  }
  return Object.keys(out).length === 0 ? undefined : out
}

function decodeModalities(value: Json | undefined, request: CanonicalRequest): JsonObject {
  if (value === undefined) return {}
  const wanted = listField(value).map((entry) => textField(entry, 'generationConfig.responseModalities')?.toLowerCase())
  const known = MODALITIES.filter((name) => wanted.includes(name))
  if (known.length > 0) request.modalities = known
  return wanted.some((name) => !(MODALITIES as readonly unknown[]).includes(name)) ? { responseModalities: value } : {}
}

function number(value: Json | undefined, name: string): number | undefined {
  const read = numberField(value, `generationConfig.${name}`)
  if (read !== undefined && !Number.isFinite(read))
    throw GatewayError.invalid(`generationConfig.${name}`, `\`${name}\` is out of range.`)
  return read
}

function defined<T extends object>(value: T): T {
  for (const key of Object.keys(value) as (keyof T)[]) if (value[key] === undefined) delete value[key]
  return value
}
