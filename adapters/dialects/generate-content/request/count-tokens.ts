// Handles `:countTokens`: its body is a request, bare or inside `generateContentRequest`; its answer is a number.
import { GatewayError } from '../../../../core/errors/gateway-error.ts'
import { stringify } from '../../../../core/json/raw-json.ts'
import type { CanonicalResponse } from '../../../../core/types/request/answer.ts'
import type { JsonObject } from '../../../../core/types/request/canonical.ts'
import type { CodecContext, WireBody } from '../../../../core/types/request/dialect.ts'
import type { StreamFacts } from '../../../../core/types/request/stream.ts'
import { camelFields, fieldsOf } from '../fields.ts'
import { noUsage } from '../usage.ts'

const WRAPPERS = ['generateContentRequest', 'generate_content_request'] as const

/** Returns the member of the body that holds the request; null when the body itself is the request. */
export function wrapperOf(body: WireBody): string | null {
  return WRAPPERS.find((name) => body.peek(name) !== undefined) ?? null
}

/** Returns the fields of the request to count. */
export function countedFields(body: WireBody): JsonObject {
  const name = wrapperOf(body)
  if (name === null) return camelFields(body.json() as JsonObject)
  return fieldsOf((body.json() as JsonObject)[name] ?? null, name)
}

/** Google accepts everything except `contents` only inside the wrapper, and the model must be there too. */
export function countBody(request: object, codec: CodecContext): string {
  return stringify({ generateContentRequest: { model: `models/${codec.model}`, ...request } })
}

export function decodeCount(wire: JsonObject, codec: CodecContext): CanonicalResponse {
  const { totalTokens } = camelFields(wire)
  if (typeof totalTokens !== 'number') throw notCounted()
  const usage = { ...noUsage(), inputTotal: totalTokens }
  return { id: '', created: Math.floor(codec.now() / 1000), model: codec.model, choices: [], usage, ext: {} }
}

export function inspectCount(body: WireBody): Pick<StreamFacts, 'usage' | 'finish' | 'error' | 'content'> {
  const counted = [body.get('totalTokens'), body.get('total_tokens')].some((value) => typeof value === 'number')
  return { usage: null, finish: null, content: counted, error: counted ? null : notCounted() }
}

function notCounted(): GatewayError {
  return GatewayError.protocol('The upstream answered without a number of tokens.')
}
