// Encodes a canonical request as an Anthropic Messages call. Facts come only from codec.caps; members that a caller of this dialect sent
// are sent unchanged.
import { GatewayError } from '../../../../core/errors/gateway-error.ts'
import { rawRequest } from '../../../../core/json/encoded-request.ts'
import type { CanonicalRequest, Frozen, JsonObject } from '../../../../core/types/request/canonical.ts'
import type { CodecContext, EncodedRequest } from '../../../../core/types/request/dialect.ts'
import { callerField } from '../../shared/caller-field.ts'
import { isObject } from '../../shared/fields.ts'
import { fittedId, hashedId } from '../../shared/long-ids.ts'
import { refuseReferences } from '../../shared/references.ts'
import type { Block } from '../response/block.ts'
import { limitCacheMarks } from './cache-marks.ts'
import { blockWriter, cacheControl } from './encode-blocks.ts'
import { type OutputPlan, planOutput } from './encode-output.ts'
import { encodeTools, isForced } from './encode-tools.ts'
import { encodeTurns } from './encode-turns.ts'
import { defaultMaxTokens, requestHeaders, requestPath } from './request-head.ts'
import { isOn, planThinking } from './thinking.ts'

/** @throws GatewayError.unsupported naming the caller's field. */
function refuseUnsupported(request: Frozen<CanonicalRequest>): void {
  const { state, sampling, source } = request
  if ((sampling.n ?? 1) > 1) refuse(callerField('n', source), 'This target returns one answer only.')
  if (request.modalities?.includes('audio')) {
    refuse(callerField('modalities', source), 'This target cannot answer with audio.')
  }
  if (source === 'messages') return
  refuseReferences(request)
  if (state?.previousResponseId !== undefined) {
    refuse('previous_response_id', 'The previous response is not stored here, and this target keeps no state.')
  }
  if (state?.conversation !== undefined) refuse('conversation', 'This target keeps no conversations.')
  if (state?.background === true) refuse('background', 'This target cannot answer in the background.')
  if (state?.promptTemplate !== undefined) refuse('prompt', 'This target has no prompt templates.')
  if (request.ext.generate_content?.cachedContent !== undefined)
    refuse('cachedContent', 'Cached content belongs to another vendor.')
}

/** Warns about fields without a counterpart that change the answer. */
function warnDropped(request: Frozen<CanonicalRequest>, codec: CodecContext): void {
  const { sampling, output, modalities } = request
  if (sampling.seed !== undefined) codec.warn('dropped_seed')
  if (sampling.frequencyPenalty) codec.warn('dropped_frequency_penalty')
  if (sampling.presencePenalty) codec.warn('dropped_presence_penalty')
  if (sampling.logitBias !== undefined && Object.keys(sampling.logitBias).length > 0) codec.warn('dropped_logit_bias')
  if (request.logprobs?.enabled) codec.warn('dropped_logprobs')
  if (request.ext.chat?.prediction !== undefined) codec.warn('dropped_prediction')
  if (modalities?.includes('image')) codec.warn('dropped_modalities')
  if (output?.kind === 'grammar') codec.warn('dropped_response_format')
}

function refuse(param: string, message: string): never {
  throw GatewayError.unsupported(param, message)
}

/** @throws GatewayError.unsupported when this target does not support the request. */
export function encodeRequest(request: Frozen<CanonicalRequest>, codec: CodecContext): EncodedRequest {
  refuseUnsupported(request)
  warnDropped(request, codec)
  const output = planOutput(request, codec)
  // Tools come before turns: the declarations fix the names that the history uses.
  const { tools, toolChoice } = encodeTools(request, output, codec)
  const messages = encodeTurns(request, output.format === undefined, codec)
  const system = encodeSystem(request, output, codec)
  const maxTokens = request.maxTokens ?? defaultMaxTokens(codec.caps)
  const capped = request.maxTokens !== undefined
  const plan = planThinking(request, { maxTokens, capped, forced: isForced(toolChoice), messages }, codec)
  const automatic = request.source === 'messages' ? request.cache?.auto : undefined
  limitCacheMarks({ tools, system, messages, automatic: automatic !== undefined })
  const { output_config: ownConfig, thinking: ownThinking, ...own } = (request.ext.messages ?? {}) as JsonObject
  const config = {
    ...(isObject(ownConfig) ? ownConfig : {}),
    ...(plan.effort === undefined ? {} : { effort: plan.effort }),
    ...(output.format === undefined ? {} : { format: output.format }),
  }
  const body = {
    ...own,
    model: codec.model,
    ...(codec.operation === 'count_tokens' ? {} : generation(request, plan.maxTokens ?? maxTokens, isOn(plan), codec)),
    ...(automatic === undefined ? {} : cacheControl(automatic)),
    ...(system.length > 0 ? { system } : {}),
    messages,
    ...(tools.length > 0 ? { tools } : {}),
    ...(toolChoice === undefined ? {} : { tool_choice: toolChoice }),
    ...(plan.thinking === undefined
      ? {}
      : { thinking: isOn(plan) && isObject(ownThinking) ? { ...ownThinking, ...plan.thinking } : plan.thinking }),
    ...(Object.keys(config).length > 0 ? { output_config: config } : {}),
    ...ownState(request),
  }
  return rawRequest(requestPath(codec), requestHeaders(request, messages), body, codec)
}

/** Anthropic's documented limit. A target with another limit declares it as a quirk. */
const MAX_LENGTH = 256
const EMAIL = /^[^\s@]+@[^\s@]+$/
const PHONE = /^\+?\d[\d\s().-]{5,20}\d$/

/**
 * Returns the id itself when it is harmless, otherwise its hash. @param own the caller speaks this dialect, so it chose the id for this
 * API.
 */
function userId(id: string, own: boolean, codec: CodecContext): string {
  const fitted = fittedId('metadata.user_id', id, codec)
  if (own || fitted !== id) return fitted
  return id.length > MAX_LENGTH || EMAIL.test(id) || PHONE.test(id) ? hashedId(id) : id
}

/** The minimum top_p together with thinking. */
const THINKING_TOP_P = 0.95

function encodeSampling(request: Frozen<CanonicalRequest>, thinking: boolean, codec: CodecContext): Block {
  const { temperature, topP, topK } = request.sampling
  if (codec.caps.sampling === 'none' || codec.caps.sampling === 'default_only') {
    if (temperature !== undefined && temperature !== 1) codec.warn('dropped_temperature')
    if (topP !== undefined && topP !== 1) codec.warn('dropped_top_p')
    if (topK !== undefined) codec.warn('dropped_top_k')
    return {}
  }
  if (thinking) return besideThinking(request, codec)
  const most = Math.min(codec.caps.temperatureMax ?? 1, 1)
  const clamped = temperature !== undefined && temperature > most
  if (clamped) codec.warn('temperature_clamped')
  // Newer models refuse the two together.
  if (temperature !== undefined && topP !== undefined && topP !== 1) codec.warn('dropped_top_p')
  return {
    ...(temperature === undefined ? {} : { temperature: clamped ? most : temperature }),
    ...(topP === undefined || temperature !== undefined ? {} : { top_p: topP }),
    ...(topK === undefined ? {} : { top_k: topK }),
  }
}

function besideThinking(request: Frozen<CanonicalRequest>, codec: CodecContext): Block {
  const { temperature, topP, topK } = request.sampling
  if (temperature !== undefined && temperature !== 1) codec.warn('dropped_temperature')
  if (topK !== undefined) codec.warn('dropped_top_k')
  if (topP === undefined) return {}
  if (topP >= THINKING_TOP_P && topP <= 1) return { top_p: topP }
  codec.warn('dropped_top_p')
  return {}
}

/** Options that apply only to generation, not to token counts. */
function generation(request: Frozen<CanonicalRequest>, maxTokens: number, thinking: boolean, codec: CodecContext): Block {
  const stop = request.stop?.filter((text) => text.trim() !== '') ?? []
  const user = request.endUser ?? request.safetyId
  const tier = serviceTier(request, codec)
  return {
    max_tokens: maxTokens,
    ...(request.stream ? { stream: true } : {}),
    ...encodeSampling(request, thinking, codec),
    ...(stop.length > 0 ? { stop_sequences: stop } : {}),
    ...(user === undefined || user === '' ? {} : { metadata: { user_id: userId(user, request.source === 'messages', codec) } }),
    ...(tier === undefined ? {} : { service_tier: tier }),
  }
}

function encodeSystem(request: Frozen<CanonicalRequest>, output: OutputPlan, codec: CodecContext): Block[] {
  const writer = blockWriter(request, false, codec)
  const blocks = request.system.flatMap(({ parts }) => writer.instruction(parts, false)).filter((block) => block.type === 'text')
  return output.instruction === undefined ? blocks : [...blocks, { type: 'text', text: output.instruction }]
}

function serviceTier(request: Frozen<CanonicalRequest>, codec: CodecContext): string | undefined {
  const tier = request.serviceTier
  if (tier === 'auto' || tier === 'standard_only') return tier
  if (tier === 'default') return 'standard_only'
  if (tier !== undefined) codec.warn('dropped_service_tier')
  return undefined
}

function ownState({ source, state, speed }: Frozen<CanonicalRequest>): Block {
  if (source !== 'messages') return {}
  return {
    ...(speed === undefined ? {} : { speed }),
    ...(state?.container === undefined ? {} : { container: state.container }),
    ...(state?.contextManagement === undefined ? {} : { context_management: state.contextManagement }),
    ...(state?.thread === undefined ? {} : { thread: state.thread }),
  }
}
