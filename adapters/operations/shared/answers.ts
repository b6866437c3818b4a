// Reads upstream answers of operations: leniently, and a body without the expected parts is a 502.
import { GatewayError } from '../../../core/errors/gateway-error.ts'
import { wireBody } from '../../../core/json/wire-body.ts'
import type { UpstreamAnswer } from '../../../core/types/operations/operation.ts'
import type { Json, JsonObject } from '../../../core/types/request/canonical.ts'
import type { WireBody } from '../../../core/types/request/dialect.ts'
import { isObject } from '../../dialects/shared/fields.ts'

/** Returns the body with its members scanned and not parsed. @throws GatewayError 502 when it is not a JSON object. */
export function scanned({ bytes }: Pick<UpstreamAnswer, 'bytes'>): WireBody {
  try {
    return wireBody(bytes)
  } catch (error) {
    throw GatewayError.protocol('The upstream answered with broken JSON.', error)
  }
}

/** Returns the parsed body. @throws GatewayError 502, also for an error inside an answer with status 200. */
export function parsed(answer: UpstreamAnswer): JsonObject {
  const json = answer.json().json() as JsonObject
  refuseError(json.error)
  return json
}

/** Some vendors send an error with status 200. @throws GatewayError 502. */
export function refuseError(error: unknown): void {
  if (error === undefined || error === null) return
  const message = isObject(error) ? error.message : error
  throw GatewayError.upstream(502, typeof message === 'string' && message !== '' ? message : 'The upstream reported an error.')
}

/** @throws GatewayError 502 naming the missing part. */
export function missing(part: string): GatewayError {
  return GatewayError.protocol(`The upstream answered without \`${part}\`.`)
}

/** @throws GatewayError 502 for a part that is no list, or has another number of entries than was asked for. */
export function listOf(value: Json | undefined, count: number, part: string): readonly Json[] {
  if (!Array.isArray(value)) throw missing(part)
  if (value.length !== count)
    throw GatewayError.protocol(`The upstream answered with ${value.length} of ${count} entries in \`${part}\`.`)
  return value
}

export const JSON_TYPE = 'application/json; charset=utf-8'
