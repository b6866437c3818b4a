// Encodes a canonical request as POST /v1/responses. Only callers of this dialect control state and storage; for all others nothing is
// stored and reasoning is encrypted.
import { GatewayError } from '../../../../core/errors/gateway-error.ts'
import { rawRequest } from '../../../../core/json/encoded-request.ts'
import type { CanonicalRequest, Frozen, JsonObject } from '../../../../core/types/request/canonical.ts'
import type { CodecContext, EncodedRequest } from '../../../../core/types/request/dialect.ts'
import { callerField } from '../../shared/caller-field.ts'
import { withLoadedTools } from '../../shared/deferred-tools.ts'
import { isObject } from '../../shared/fields.ts'
import { fittedId } from '../../shared/long-ids.ts'
import { refuseMcpServers } from '../../shared/references.ts'
import { countedMembers, pathOf } from '../count.ts'
import { encodeInput } from './encode-input.ts'
import { encodeReasoning, encodeSampling, encodeText, isReasoningModel } from './encode-options.ts'
import { encodeToolChoice, encodeTools } from './encode-tools.ts'

const MIN_OUTPUT_TOKENS = 16
const INCLUDE_REASONING = 'reasoning.encrypted_content'
const INCLUDE_LOGPROBS = 'message.output_text.logprobs'

export function encodeRequest(given: Frozen<CanonicalRequest>, codec: CodecContext): EncodedRequest {
  const request = withLoadedTools(given, codec)
  refuse(request, codec)
  const own = request.source === 'responses' ? (request.ext.responses ?? {}) : {}
  const { include: _include, reasoning: _reasoning, text: _text, ...rest } = own
  const tools = encodeTools(request, codec)
  const wire = {
    ...rest,
    model: codec.model,
    ...encodeInput(request, codec),
    ...(tools.length === 0 ? {} : { tools, ...choice(request, codec) }),
    ...limits(request, codec),
    ...encodeSampling(request, codec),
    ...encodeReasoning(request, codec, own),
    ...encodeText(request, codec, own),
    ...include(request, codec, own),
    ...identity(request, own, codec),
    ...state(request),
    ...(request.stream ? { stream: true } : {}),
  }
  const sent = codec.operation === 'count_tokens' ? countedMembers(wire as JsonObject) : wire
  return rawRequest(pathOf(codec.operation), headers(request), sent, codec)
}

function refuse(request: Frozen<CanonicalRequest>, codec: CodecContext): void {
  const { sampling, ext, source } = request
  if ((sampling.n ?? 1) > 1) throw GatewayError.unsupported(callerField('n', source), 'The responses format gives one answer.')
  if (request.modalities?.includes('audio') || request.audioOut !== undefined) {
    throw GatewayError.unsupported(callerField('modalities', source), 'The responses format has no audio output.')
  }
  if (request.modalities?.includes('image')) codec.warn('dropped_modalities')
  if (request.maxTokens === 0)
    throw GatewayError.unsupported(callerField('max_tokens', source), 'Warming a cache exists only in the messages format.')
  if (source === 'responses') return
  if (request.state?.thread !== undefined) throw GatewayError.unsupported('thread', 'Threads exist only at their own provider.')
  refuseMcpServers(request)
  if (ext.generate_content?.cachedContent !== undefined) {
    throw GatewayError.unsupported('cachedContent', '`cachedContent` exists only at its own provider.')
  }
}

function choice(request: Frozen<CanonicalRequest>, codec: CodecContext): object {
  return {
    ...(request.toolChoice === undefined ? {} : { tool_choice: encodeToolChoice(request.toolChoice, request, codec) }),
    ...(request.parallelToolCalls === undefined ? {} : { parallel_tool_calls: request.parallelToolCalls }),
  }
}

function limits(request: Frozen<CanonicalRequest>, codec: CodecContext): object {
  const { maxTokens } = request
  if (maxTokens === undefined) return {}
  if (maxTokens < MIN_OUTPUT_TOKENS) codec.warn('max_tokens_raised')
  return { max_output_tokens: Math.max(MIN_OUTPUT_TOKENS, maxTokens) }
}

function include(request: Frozen<CanonicalRequest>, codec: CodecContext, own: Frozen<JsonObject>): object {
  const wanted = new Set(Array.isArray(own.include) ? own.include : [])
  if (request.reasoning?.encrypted || (request.source !== 'responses' && isReasoningModel(request, codec)))
    wanted.add(INCLUDE_REASONING)
  if (!request.logprobs?.enabled) return wanted.size === 0 ? {} : { include: [...wanted] }
  if (codec.quirks.noLogprobs) {
    codec.warn('dropped_logprobs')
    return wanted.size === 0 ? {} : { include: [...wanted] }
  }
  wanted.add(INCLUDE_LOGPROBS)
  return { include: [...wanted], ...(request.logprobs.top === undefined ? {} : { top_logprobs: request.logprobs.top }) }
}

function identity(request: Frozen<CanonicalRequest>, own: Frozen<JsonObject>, codec: CodecContext): object {
  const { cache, serviceTier } = request
  const rest = isObject(own.prompt_cache_options) ? own.prompt_cache_options : undefined
  return {
    ...(request.endUser === undefined ? {} : { user: fittedId('user', request.endUser, codec) }),
    ...(request.safetyId === undefined ? {} : { safety_identifier: fittedId('safety_identifier', request.safetyId, codec) }),
    ...(request.metadata === undefined ? {} : { metadata: request.metadata }),
    ...(serviceTier === undefined ? {} : { service_tier: serviceTier === 'standard_only' ? 'default' : serviceTier }),
    ...(cache?.key === undefined ? {} : { prompt_cache_key: fittedId('prompt_cache_key', cache.key, codec) }),
    ...(cache?.retention === undefined ? {} : { prompt_cache_retention: cache.retention }),
    ...(cache?.mode === undefined ? {} : { prompt_cache_options: { ...rest, mode: cache.mode } }),
  }
}

function state(request: Frozen<CanonicalRequest>): object {
  if (request.source !== 'responses') return { store: false }
  const { state } = request
  return {
    ...(state?.previousResponseId === undefined ? {} : { previous_response_id: state.previousResponseId }),
    ...(state?.conversation === undefined ? {} : { conversation: state.conversation }),
    ...(state?.store === undefined ? {} : { store: state.store }),
    ...(state?.background ? { background: true } : {}),
    ...(state?.promptTemplate === undefined ? {} : { prompt: state.promptTemplate }),
    ...(state?.truncation === undefined ? {} : { truncation: state.truncation }),
    ...(state?.contextManagement === undefined ? {} : { context_management: state.contextManagement }),
  }
}

function headers(request: Frozen<CanonicalRequest>): string[] {
  const { openaiBeta, idempotencyKey } = request.headers
  const out: string[] = []
  if (request.source === 'responses' && openaiBeta !== undefined) out.push('openai-beta', openaiBeta)
  if (idempotencyKey !== undefined) out.push('idempotency-key', idempotencyKey)
  return out
}
