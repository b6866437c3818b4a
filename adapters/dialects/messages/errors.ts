// Converts errors in both directions: bodies and frames for callers of this dialect, and vendors' answers.
import { entryOf } from '../../../core/collections/entry-of.ts'
import { envelope, GatewayError } from '../../../core/errors/gateway-error.ts'
import { decodeUtf8 } from '../../../core/text/bytes.ts'
import { sanitizeMessage } from '../../../core/text/sanitize.ts'
import type { GatewayErrorShape } from '../../../core/types/error.ts'
import type { HeaderBag } from '../../../core/types/ports/ports.ts'
import type { Json, JsonObject } from '../../../core/types/request/canonical.ts'
import { isObject } from '../shared/fields.ts'
import { longId } from '../shared/long-ids.ts'
import { unsupportedField } from './request/unsupported-field.ts'

/** The envelope of every route, with the members that Anthropic's SDK reads. */
export function encodeError(error: GatewayErrorShape, requestId: string): string {
  return JSON.stringify({ type: 'error', ...envelope(error), request_id: requestId })
}

/** Returns the last frame of a broken stream. */
export function errorFrame(error: GatewayErrorShape): string {
  return `event: error\ndata: {"type":"error","error":{"type":"api_error","message":${JSON.stringify(error.message)}}}\n\n`
}

export function decodeError(status: number, _headers: HeaderBag, body: Uint8Array): GatewayErrorShape {
  const raw = decodeUtf8(body.subarray(0, 64 << 10)).trim()
  const parsed = parse(raw)
  const detail = parsed === undefined ? null : vendorError(parsed)
  if (detail === null) {
    const unreadable = raw === '' || raw.startsWith('<') || parsed !== undefined
    return GatewayError.upstream(status, unreadable ? noMessage(status) : sanitizeMessage(raw))
  }
  const refused = status === 400 || status === 422
  const tooLong = refused ? longId(detail.message, detail.param, detail.code) : null
  const field = refused ? (tooLong ?? unsupportedField(detail.message, detail.param)) : null
  return GatewayError.upstream(status, sanitizeMessage(detail.message) || noMessage(status), {
    type: detail.type,
    code: detail.code,
    param: detail.param ?? field,
    field,
    fieldTooLong: tooLong !== null,
  })
}

/** Returns the error inside a 200 body or a stream; null when the object is not an error. */
export function inBandError(answer: JsonObject, kind: 'status' | 'stream'): GatewayError | null {
  if (answer.type !== 'error' && !isObject(answer.error)) return null
  const detail = vendorError(answer) ?? { message: '', type: null, code: null, param: null, status: null }
  const message = sanitizeMessage(detail.message) || 'The upstream reported an error.'
  const { status, ...rest } = detail
  return GatewayError.upstream(status ?? 502, message, { type: rest.type, code: rest.code, param: rest.param, kind })
}

interface VendorError {
  message: string
  type: string | null
  code: string | null
  param: string | null
  /** The HTTP status that the error object names. */
  status: number | null
}

const STATUS: Readonly<Record<string, number>> = {
  invalid_request_error: 400,
  authentication_error: 401,
  billing_error: 402,
  permission_error: 403,
  not_found_error: 404,
  conflict_error: 409,
  request_too_large: 413,
  rate_limit_error: 429,
  api_error: 500,
  timeout_error: 504,
  overloaded_error: 529,
}

function vendorError(parsed: Json): VendorError | null {
  const body = Array.isArray(parsed) ? parsed[0] : parsed
  if (!isObject(body)) return null
  const error = isObject(body.error) ? body.error : body
  const message = text(error.message) ?? text(body.error) ?? text(body.message) ?? text(body.detail) ?? text(body.msg)
  // The envelope's own `type:"error"` carries no information.
  const type = isObject(body.error) ? text(error.type) : null
  if (message === null && type === null) return null
  const details = isObject(error.details) ? error.details : {}
  const code = text(details.error_code) ?? text(error.code) ?? (typeof error.code === 'number' ? String(error.code) : null)
  return { message: message ?? type ?? '', type, code, param: text(error.param), status: statusOf(type, code) }
}

function statusOf(type: string | null, code: string | null): number | null {
  const known = type === null ? undefined : entryOf(STATUS, type)
  if (known !== undefined) return known
  return code !== null && /^[45]\d\d$/.test(code) ? Number(code) : null
}

function noMessage(status: number): string {
  return `The upstream answered with status ${status} and no readable message.`
}

function parse(raw: string): Json | undefined {
  try {
    return JSON.parse(raw) as Json
  } catch {
    return undefined
  }
}

function text(value: Json | undefined): string | null {
  return typeof value === 'string' && value !== '' ? value : null
}
