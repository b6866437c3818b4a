// Refuses requests that Gemini does not support before any upstream call, so that another target may serve them.
import { GatewayError } from '../../../../core/errors/gateway-error.ts'
import type { CanonicalRequest, Frozen } from '../../../../core/types/request/canonical.ts'
import type { CodecContext } from '../../../../core/types/request/dialect.ts'
import { callerField } from '../../shared/caller-field.ts'
import { refuseMcpServers, refuseReferences } from '../../shared/references.ts'

const MAX_CANDIDATES = 8

/** @throws GatewayError.unsupported naming the caller's field. */
export function refuseUnsupported(request: Frozen<CanonicalRequest>, codec: CodecContext): void {
  const { state, sampling } = request
  const n = sampling.n ?? 1
  const field = callerField('n', request.source)
  if (n > MAX_CANDIDATES) throw GatewayError.unsupported(field, `This target returns at most ${MAX_CANDIDATES} candidates.`)
  if (n > 1 && request.stream) throw GatewayError.unsupported(field, 'This target cannot stream more than one candidate.')
  if (n > 1 && codec.quirks.noMultipleChoices) throw GatewayError.unsupported(field, 'This target returns one candidate only.')
  if (request.maxTokens === 0) {
    const capped = callerField('max_tokens', request.source)
    throw GatewayError.unsupported(capped, 'This target cannot warm a cache without generating.')
  }
  refuseReferences(request)
  if (state?.previousResponseId !== undefined) {
    throw GatewayError.unsupported(
      'previous_response_id',
      'The previous response is not stored here, and this target keeps no state.',
    )
  }
  if (state?.conversation !== undefined) throw GatewayError.unsupported('conversation', 'This target keeps no conversations.')
  if (state?.background === true) throw GatewayError.unsupported('background', 'This target cannot answer in the background.')
  if (state?.promptTemplate !== undefined) throw GatewayError.unsupported('prompt', 'This target has no prompt templates.')
  if (state?.thread !== undefined) throw GatewayError.unsupported('thread', 'This target keeps no threads.')
  refuseMcpServers(request)
}
