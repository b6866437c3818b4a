// Canonical → an Anthropic Messages call. Facts come from codec.caps only; what a caller of this
// very dialect sent goes back as it came.
import { stringify } from '../../../../core/json/raw-json.ts'
import { wireBody } from '../../../../core/json/wire-body.ts'
import type { CanonicalRequest, Frozen, JsonObject } from '../../../../core/types/canonical.ts'
import type { CodecContext, EncodedRequest } from '../../../../core/types/dialect.ts'
import { isObject } from '../../shared/fields.ts'
import type { Block } from '../response/block.ts'
import { limitCacheMarks } from './cache-marks.ts'
import { blockWriter, cacheControl } from './encode-blocks.ts'
import { type OutputPlan, planOutput } from './encode-output.ts'
import { isForced } from './encode-tool-choice.ts'
import { encodeTools } from './encode-tools.ts'
import { encodeTurns } from './encode-turns.ts'
import { userId } from './end-user.ts'
import { refuseUnsupported, warnDropped } from './refusals.ts'
import { defaultMaxTokens, requestHeaders, requestPath } from './request-head.ts'
import { encodeSampling } from './sampling.ts'
import { isOn, planThinking } from './thinking.ts'

/** @throws GatewayError.unsupported when this target cannot do what was asked. */
export function encodeRequest(request: Frozen<CanonicalRequest>, codec: CodecContext): EncodedRequest {
  refuseUnsupported(request)
  warnDropped(request, codec)
  const output = planOutput(request, codec)
  // Tools before turns: declarations settle the names that the history then uses.
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
  const body = stringify({
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
  })
  return { path: requestPath(codec), headers: requestHeaders(request, messages), body: wireBody(body) }
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
