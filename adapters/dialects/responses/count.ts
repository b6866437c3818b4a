// Counts input tokens: `POST /v1/responses/input_tokens`.
import { GatewayError } from '../../../core/errors/gateway-error.ts'
import type { CanonicalResponse } from '../../../core/types/request/answer.ts'
import type { JsonObject, Operation } from '../../../core/types/request/canonical.ts'
import type { CodecContext, WireBody } from '../../../core/types/request/dialect.ts'
import type { StreamFacts } from '../../../core/types/request/stream.ts'

export const COUNT_PATH = '/v1/responses/input_tokens'

export function pathOf(operation: Operation): string {
  return operation === 'count_tokens' ? COUNT_PATH : '/v1/responses'
}

/** The members of a request that the endpoint accepts. */
const COUNTED: ReadonlySet<string> = new Set([
  'conversation',
  'input',
  'instructions',
  'model',
  'parallel_tool_calls',
  'previous_response_id',
  'reasoning',
  'text',
  'tool_choice',
  'tools',
  'truncation',
])

export function countedMembers(wire: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(wire).filter(([name]) => COUNTED.has(name)))
}

/** @throws GatewayError 502 for an answer without a count. */
export function decodeCount(wire: JsonObject, codec: CodecContext): CanonicalResponse {
  const counted = wire.input_tokens
  if (typeof counted !== 'number') throw notCounted()
  const usage = { inputTotal: counted, cacheRead: 0, cacheWrite: 0, outputTotal: 0, total: counted, estimated: false, raw: wire }
  return { id: '', created: Math.floor(codec.now() / 1000), model: codec.model, choices: [], usage, ext: {} }
}

export function inspectCount(body: WireBody): Pick<StreamFacts, 'usage' | 'finish' | 'error' | 'content'> {
  const counted = typeof body.get('input_tokens') === 'number'
  return { usage: null, finish: null, content: counted, error: counted ? null : notCounted() }
}

export function countObject(tokens: number): JsonObject {
  return { object: 'response.input_tokens', input_tokens: tokens }
}

function notCounted(): GatewayError {
  return GatewayError.protocol('The upstream answered without a token count.')
}
