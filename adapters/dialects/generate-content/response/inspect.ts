// Inspects whole answers on the byte lane: reads usage, finish and errors in 200 answers by path, without decoding the answer.
import { GatewayError } from '../../../../core/errors/gateway-error.ts'
import type { JsonObject } from '../../../../core/types/request/canonical.ts'
import type { CodecContext, WireBody } from '../../../../core/types/request/dialect.ts'
import type { StreamFacts } from '../../../../core/types/request/stream.ts'
import { settleFinish } from '../../shared/finish.ts'
import { errorOf } from '../errors.ts'
import { isObject } from '../fields.ts'
import { finishOf, nativeFinish } from '../finish.ts'
import { inspectCount } from '../request/count-tokens.ts'
import { usageOf } from '../usage.ts'

export function inspectResponse(
  body: WireBody,
  codec: CodecContext,
): Pick<StreamFacts, 'usage' | 'finish' | 'error' | 'content'> {
  const usage = usageOf(body.get('usageMetadata'))
  const candidate = body.get('candidates.0') !== undefined
  const error = body.get('error')
  if (!candidate && error !== undefined && error !== null) {
    return { usage, finish: null, content: false, error: errorOf({ error } as JsonObject, 0, 'status') }
  }
  if (codec.operation === 'count_tokens') return inspectCount(body)
  if (!candidate) {
    const feedback = body.get('promptFeedback')
    const blocked = isObject(feedback) && typeof feedback.blockReason === 'string'
    return {
      usage,
      finish: blocked ? 'content_filter' : null,
      content: false,
      error: blocked ? null : GatewayError.protocol('The upstream answered without a candidate.'),
    }
  }
  const given = body.get('candidates.0.content.parts')
  const parts = Array.isArray(given) ? given.filter(isObject) : []
  const native = nativeFinish(body.get('candidates.0.finishReason'))
  const finish =
    native === null
      ? null
      : settleFinish(
          finishOf(native),
          parts.some(({ functionCall }) => functionCall !== undefined),
        )
  return { usage, finish, content: parts.length > 0, error: null }
}
