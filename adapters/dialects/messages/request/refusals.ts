// Requests that this API cannot serve: refused before any upstream call, or sent without the member and with a warning.
import { GatewayError } from '../../../../core/errors/gateway-error.ts'
import type { CanonicalRequest, Frozen } from '../../../../core/types/canonical.ts'
import type { CodecContext } from '../../../../core/types/dialect.ts'
import { callerField } from '../../shared/caller-field.ts'
import { refuseReferences } from '../../shared/references.ts'

/** @throws GatewayError.unsupported naming the caller's field. */
export function refuseUnsupported(request: Frozen<CanonicalRequest>): void {
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

/** Fields without a counterpart that change what comes back. */
export function warnDropped(request: Frozen<CanonicalRequest>, codec: CodecContext): void {
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
