// Decodes an upstream's response object, and reads its outcome for both lanes and the stream.
import { GatewayError } from '../../../../core/errors/gateway-error.ts'
import type { CanonicalResponse, Finish } from '../../../../core/types/request/answer.ts'
import type { Json, JsonObject, Part } from '../../../../core/types/request/canonical.ts'
import type { CodecContext, WireBody } from '../../../../core/types/request/dialect.ts'
import { isObject, loose, others } from '../../shared/fields.ts'
import { hasToolCall, settleFinish } from '../../shared/finish.ts'
import { decodeCount } from '../count.ts'
import { innerError } from '../errors.ts'
import { decodeUsage, missingUsage } from '../usage.ts'
import { decodeItem } from './decode-items.ts'

/** Returns the members of a response that only this dialect has. */
export function ownMembers(wire: JsonObject): JsonObject | null {
  return others(wire, RETOLD)
}

/** Members that the encoder writes itself. All others are the upstream's and go back to a caller of this dialect. */
const RETOLD: ReadonlySet<string> = new Set([
  'id',
  'object',
  'created_at',
  'model',
  'output',
  'output_text',
  'usage',
  'error',
  'incomplete_details',
  'status',
  'service_tier',
  // Tools and prompts are echoed as the caller wrote them, not as the gateway sent them.
  'tools',
  'tool_choice',
  'instructions',
])

export function decodeResponse(body: WireBody, codec: CodecContext): CanonicalResponse {
  const wire = body.json() as JsonObject
  const failure = failureOf(wire)
  if (failure !== null) throw failure
  if (codec.operation === 'count_tokens') return decodeCount(wire, codec)
  if (!Array.isArray(wire.output)) throw GatewayError.protocol('The upstream’s answer has no output.')
  const parts: Part[] = []
  for (const item of wire.output) if (isObject(item)) parts.push(...decodeItem(item, codec))
  const { finish, native } = outcomeOf(wire, parts)
  const ext = ownMembers(wire) ?? {}
  // A background answer is not finished; the caller polls its status.
  if (wire.status === 'queued' || wire.status === 'in_progress') ext.status = wire.status
  const logprobs = logprobsOf(wire.output)
  const tier = loose(wire.service_tier)
  return {
    id: loose(wire.id),
    created: typeof wire.created_at === 'number' ? Math.floor(wire.created_at) : Math.floor(codec.now() / 1000),
    model: loose(wire.model) || codec.model,
    choices: [
      {
        index: 0,
        parts,
        finish,
        nativeFinish: native,
        ...(logprobs.length === 0 ? {} : { logprobs: { content: logprobs, refusal: null } }),
      },
    ],
    usage: decodeUsage(wire.usage, codec.quirks) ?? missingUsage(),
    ...(tier === '' ? {} : { serviceTier: tier }),
    ext: { responses: ext },
  }
}

/** Returns the error of a response that failed with status 200; null when it did not fail. */
export function failureOf(wire: JsonObject): GatewayError | null {
  if (isObject(wire.error)) return innerError(wire.error, 'status')
  if (typeof wire.error === 'string' && wire.error !== '') return innerError({ message: wire.error }, 'status')
  if (wire.status === 'failed')
    return innerError({ code: 'server_error', message: 'The upstream reported a failed response.' }, 'status')
  if (wire.status === 'cancelled')
    return innerError({ code: 'server_error', message: 'The response was cancelled at the upstream.' }, 'status')
  return null
}

export function outcomeOf(wire: JsonObject, parts: readonly Part[]): { finish: Finish; native: string } {
  return outcome(
    wire,
    hasToolCall(parts),
    parts.some((part) => part.t === 'refusal'),
  )
}

export function outcome(wire: JsonObject, called: boolean, refused: boolean): { finish: Finish; native: string } {
  if (wire.status === 'queued' || wire.status === 'in_progress') return { finish: 'other', native: wire.status }
  if (wire.status !== 'incomplete') return { finish: settleFinish(refused ? 'refusal' : 'stop', called), native: 'completed' }
  const reason = isObject(wire.incomplete_details) ? loose(wire.incomplete_details.reason) : ''
  const finish: Finish = reason === 'max_output_tokens' ? 'length' : reason === 'content_filter' ? 'content_filter' : 'other'
  return { finish, native: reason === '' ? 'incomplete' : reason }
}

function logprobsOf(output: readonly Json[]): Json[] {
  const out: Json[] = []
  for (const item of output) {
    if (!isObject(item) || !Array.isArray(item.content)) continue
    for (const content of item.content) if (isObject(content) && Array.isArray(content.logprobs)) out.push(...content.logprobs)
  }
  return out
}
