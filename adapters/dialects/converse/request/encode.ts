// Encodes a canonical request as a Converse call.
import { GatewayError } from '../../../../core/errors/gateway-error.ts'
import { rawRequest } from '../../../../core/json/encoded-request.ts'
import type { CanonicalRequest, Frozen, JsonObject } from '../../../../core/types/request/canonical.ts'
import type { CodecContext, EncodedRequest } from '../../../../core/types/request/dialect.ts'
import { callerField } from '../../shared/caller-field.ts'
import { planThinking } from './thinking.ts'
import { encodeTools } from './tools.ts'
import { type Block, encodeTurns, withCachePoint } from './turns.ts'

const MOST_BY_DEFAULT = 32_000
const UNKNOWN_MODEL = 4096
const MAX_STOP = 4

/** @throws GatewayError.unsupported naming the caller's field. */
export function encodeRequest(request: Frozen<CanonicalRequest>, codec: CodecContext): EncodedRequest {
  refuseUnsupported(request)
  const messages = encodeTurns(request, codec)
  const tools = encodeTools(request, codec)
  const { family, maxOutput } = codec.caps
  const room = request.maxTokens ?? (maxOutput === undefined ? UNKNOWN_MODEL : Math.min(maxOutput, MOST_BY_DEFAULT))
  const thinking = planThinking(request, room, tools.forced, messages, codec)
  const output = outputOf(request, codec)
  const system = [...systemOf(request, codec), ...output.system]
  // A thinking budget needs a limit above it. Other models have a default of their own.
  const maxTokens = request.maxTokens ?? (thinking.on || family === 'claude' ? room : undefined)
  const more = { ...thinking.fields, ...topK(request, thinking.on, codec) }
  const body = {
    messages,
    ...(system.length > 0 ? { system } : {}),
    inferenceConfig: {
      ...(maxTokens === undefined ? {} : { maxTokens }),
      ...sampling(request, thinking.on, codec),
      ...stopOf(request, codec),
    },
    ...(tools.config === undefined ? {} : { toolConfig: tools.config }),
    ...(output.config === undefined ? {} : { outputConfig: output.config }),
    ...(Object.keys(more).length > 0 ? { additionalModelRequestFields: more } : {}),
  }
  return rawRequest(
    `/model/${encodeURIComponent(codec.model)}/${request.stream ? 'converse-stream' : 'converse'}`,
    request.stream ? ['accept', 'application/vnd.amazon.eventstream'] : [],
    body,
    codec,
  )
}

function refuseUnsupported({ sampling: { n = 1 }, modalities, source, state }: Frozen<CanonicalRequest>): void {
  if (n > 1) throw GatewayError.unsupported(callerField('n', source), 'This target returns one answer only.')
  if (modalities?.includes('audio'))
    throw GatewayError.unsupported(callerField('modalities', source), 'This target cannot answer with audio.')
  if (state?.previousResponseId !== undefined)
    throw GatewayError.unsupported('previous_response_id', 'This target does not keep the conversation.')
}

function systemOf({ system }: Frozen<CanonicalRequest>, codec: CodecContext): Block[] {
  return system.flatMap(({ parts }) =>
    parts.flatMap((part) =>
      part.t === 'text' && part.text.trim() !== '' ? withCachePoint({ text: part.text }, part.cache, codec) : [],
    ),
  )
}

function sampling({ sampling: given }: Frozen<CanonicalRequest>, thinking: boolean, codec: CodecContext): JsonObject {
  const { temperature, topP } = given
  for (const [name, value] of [
    ['frequency_penalty', given.frequencyPenalty],
    ['presence_penalty', given.presencePenalty],
  ] as const)
    if (value !== undefined && value !== 0) codec.warn(`dropped_${name}`)
  if (given.seed !== undefined) codec.warn('dropped_seed')
  if (given.logitBias !== undefined) codec.warn('dropped_logit_bias')
  const fixed = thinking || codec.caps.sampling === 'none' || codec.caps.sampling === 'default_only'
  if (fixed) {
    if (temperature !== undefined && temperature !== 1) codec.warn('dropped_temperature')
    if (topP !== undefined && topP !== 1) codec.warn('dropped_top_p')
    return {}
  }
  const clamped = temperature !== undefined && temperature > 1
  if (clamped) codec.warn('temperature_clamped')
  // Newer models of Claude refuse the two together.
  const both = temperature !== undefined && topP !== undefined && codec.caps.family === 'claude'
  if (both && topP !== 1) codec.warn('dropped_top_p')
  return {
    ...(temperature === undefined ? {} : { temperature: Math.min(temperature, 1) }),
    ...(topP === undefined || both ? {} : { topP }),
  }
}

function topK({ sampling: { topK: given } }: Frozen<CanonicalRequest>, thinking: boolean, codec: CodecContext): JsonObject {
  if (given === undefined) return {}
  if (codec.caps.family === 'claude' && !thinking && codec.caps.sampling !== 'none') return { top_k: given }
  codec.warn('dropped_top_k')
  return {}
}

function stopOf({ stop }: Frozen<CanonicalRequest>, codec: CodecContext): JsonObject {
  const sequences = stop?.filter((text) => text !== '') ?? []
  if (sequences.length > MAX_STOP) codec.warn('stop_truncated')
  return sequences.length === 0 ? {} : { stopSequences: sequences.slice(0, MAX_STOP) }
}

function outputOf({ output }: Frozen<CanonicalRequest>, codec: CodecContext): { system: Block[]; config?: JsonObject } {
  if (output?.kind === 'json_object') {
    codec.warn('json_object_as_instruction')
    return { system: [{ text: 'Respond with one JSON object only.' }] }
  }
  if (output?.kind !== 'json_schema') return { system: [] }
  const schema = JSON.stringify(output.schema ?? {})
  if (codec.caps.structuredOutputs === true) {
    const { name = 'answer', description } = output
    const jsonSchema = { schema, name, ...(description === undefined ? {} : { description }) }
    return { system: [], config: { textFormat: { type: 'json_schema', structure: { jsonSchema } } } }
  }
  codec.warn('output_schema_as_instruction')
  return { system: [{ text: `Respond with one JSON value only, which follows this JSON Schema: ${schema}` }] }
}
