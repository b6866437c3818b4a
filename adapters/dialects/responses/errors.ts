// Converts errors of this dialect: the envelope for callers, and an upstream's error body, failed response or error event.
import { entryOf } from '../../../core/collections/entry-of.ts'
import { envelope, GatewayError } from '../../../core/errors/gateway-error.ts'
import { decodeUtf8 } from '../../../core/text/bytes.ts'
import { sanitizeMessage } from '../../../core/text/sanitize.ts'
import type { GatewayErrorShape } from '../../../core/types/error.ts'
import type { Json, JsonObject } from '../../../core/types/request/canonical.ts'
import type { DialectDriver } from '../../../core/types/request/dialect.ts'
import { isObject, loose } from '../shared/fields.ts'
import { longId } from '../shared/long-ids.ts'

/** The HTTP status for each code that arrives inside a 200. */
const STATUS_OF_CODE: Readonly<Record<string, number>> = {
  server_error: 500,
  internal_server_error: 500,
  api_error: 500,
  server_is_overloaded: 503,
  overloaded_error: 503,
  slow_down: 503,
  rate_limit_exceeded: 429,
  rate_limit_error: 429,
  too_many_requests: 429,
  insufficient_quota: 429,
  context_length_exceeded: 400,
  invalid_request_error: 400,
  invalid_prompt: 400,
  invalid_value: 400,
  bio_policy: 400,
  cyber_policy: 400,
  content_filter: 400,
  data_residency_mismatch: 400,
  image_content_policy_violation: 400,
  previous_response_not_found: 404,
  model_not_found: 404,
  invalid_api_key: 401,
  authentication_error: 401,
  permission_error: 403,
}

/** Texts in which vendors name an unsupported field; the first group is the field. */
const UNSUPPORTED: readonly RegExp[] = [
  /^Unsupported (?:parameter|value): '([^']+)'/,
  /^Unknown parameter: '([^']+)'/,
  /Unrecognized request argument supplied: ([\w.]+)/,
  /^`?([\w.[\]]+)`?: Extra inputs are not permitted/,
  /`([\w.]+)` is deprecated for this model/,
  /"([\w.]+)" is not supported (?:for|with|by) this model/,
  /Unknown name "([^"]+)"/,
]
const UNSUPPORTED_CODES: readonly (string | null)[] = ['unsupported_parameter', 'unsupported_value', 'unknown_parameter']

export const encodeError: DialectDriver['encodeError'] = (error) => JSON.stringify(envelope(error))

export const decodeError: DialectDriver['decodeError'] = (status, _headers, bytes) => {
  const body = errorBody(bytes)
  const { message, type, code, param } = detailOf(body)
  const text = sanitizeMessage(message)
  const refused = status === 400 || status === 422
  const tooLong = refused ? longId(text, param, code) : null
  return GatewayError.upstream(status, text === '' ? `The upstream answered with status ${status}.` : text, {
    type: type === '' ? null : type,
    code,
    param,
    field: refused ? (tooLong ?? unsupportedField(text, code, param)) : null,
    fieldTooLong: tooLong !== null,
  })
}

/** Returns the error of a failed response or an error event, with the status of its code. */
export function innerError(error: Json | undefined, kind: 'status' | 'stream'): GatewayError {
  const { message, type, code, param } = detailOf(isObject(error) ? { error } : {})
  const status = innerStatus(error, code, type)
  const text = sanitizeMessage(message)
  return GatewayError.upstream(status, text === '' ? 'The upstream failed to answer.' : text, {
    code: code ?? (type === '' ? null : type),
    param,
    kind,
  })
}

/** Returns the code of a `response.failed` for callers. */
export function failureCode(error: GatewayErrorShape): string {
  return error.status === 429 ? 'rate_limit_exceeded' : 'server_error'
}

function innerStatus(error: Json | undefined, code: string | null, type: string): number {
  const stated = isObject(error) ? Number(error.status ?? error.status_code ?? error.code) : Number.NaN
  if (Number.isInteger(stated) && stated >= 400 && stated <= 599) return stated
  const known = entryOf(STATUS_OF_CODE, code ?? '') ?? entryOf(STATUS_OF_CODE, type)
  if (known !== undefined) return known
  return /^(invalid|unsupported|image|empty|failed_to_download)_/.test(code ?? '') ? 400 : 502
}

function errorBody(bytes: Uint8Array): Json {
  try {
    const parsed = JSON.parse(decodeUtf8(bytes)) as Json
    return Array.isArray(parsed) ? (parsed[0] ?? null) : parsed
  } catch {
    // HTML or plain text from a proxy in between is not shown to clients.
    return null
  }
}

function detailOf(body: Json): { message: string; type: string; code: string | null; param: string | null } {
  if (!isObject(body)) return { message: typeof body === 'string' ? body : '', type: '', code: null, param: null }
  const error = isObject(body.error) ? body.error : body
  const message = loose(error.message) || loose(body.error) || loose(body.message) || detailText(body.detail)
  const { code } = error
  return {
    message,
    type: error === body ? '' : loose(error.type),
    code: typeof code === 'string' && code !== '' ? code : typeof code === 'number' ? String(code) : null,
    param: loose(error.param) || extraField(body.detail),
  }
}

/** Reads `detail` of Python servers: a text, or a list of validation errors. */
function detailText(detail: Json | undefined): string {
  if (typeof detail === 'string') return detail
  const first = Array.isArray(detail) ? detail[0] : undefined
  return isObject(first) ? loose(first.msg) : ''
}

function extraField(detail: Json | undefined): string | null {
  const first: JsonObject | undefined = Array.isArray(detail) && isObject(detail[0]) ? detail[0] : undefined
  if (first?.type !== 'extra_forbidden' || !Array.isArray(first.loc)) return null
  return first.loc.filter((step) => step !== 'body').join('.')
}

function unsupportedField(message: string, code: string | null, param: string | null): string | null {
  for (const pattern of UNSUPPORTED) {
    const found = pattern.exec(message)?.[1]
    if (found !== undefined) return param ?? found
  }
  if (
    UNSUPPORTED_CODES.includes(code) ||
    /not supported (?:for|with|by) this model|Extra inputs are not permitted/i.test(message)
  )
    return param
  return null
}
