// Converts errors in both directions: the caller's body and frame, and the errors of chat-like vendors.
import { envelope, GatewayError } from '../../../core/errors/gateway-error.ts'
import { decodeUtf8 } from '../../../core/text/bytes.ts'
import { sanitizeMessage } from '../../../core/text/sanitize.ts'
import type { GatewayErrorShape } from '../../../core/types/error.ts'
import type { HeaderBag } from '../../../core/types/ports/ports.ts'
import type { Json, JsonObject } from '../../../core/types/request/canonical.ts'
import { longId } from '../shared/long-ids.ts'
import { isObject, text } from './read.ts'
import { unsupportedField } from './request/unsupported-field.ts'

export function encodeError(error: GatewayErrorShape): string {
  return JSON.stringify(envelope(error))
}

/** Reads a vendor's HTTP error body: JSON in any known shape, text, or an HTML page. */
export function decodeError(status: number, _headers: HeaderBag, body: Uint8Array): GatewayError {
  const raw = decodeUtf8(body.subarray(0, 64 << 10)).trim()
  const parsed = parseJson(raw)
  const detail = parsed === null ? null : vendorError(parsed)
  if (detail === null) {
    const page = /^\s*<(?:!doctype|html|\?xml)/i.test(raw)
    const message =
      page || raw === '' ? `The upstream answered with status ${status} and no readable message.` : sanitizeMessage(raw)
    return GatewayError.upstream(status, message)
  }
  const message = sanitizeMessage(detail.message) || `The upstream answered with status ${status}.`
  const refused = status === 400 || status === 422
  const tooLong = refused ? longId(detail.message, detail.param, detail.code) : null
  return GatewayError.upstream(status, message, {
    type: detail.type,
    code: detail.code,
    param: detail.param,
    field: refused ? (tooLong ?? unsupportedField(detail.message, detail.param, detail.code)) : null,
    fieldTooLong: tooLong !== null,
  })
}

/** Returns the error inside a 200 answer or a stream frame; null when there is none. */
export function inBandError(answer: JsonObject, kind: 'status' | 'stream'): GatewayError | null {
  const detail = hasError(answer) ? vendorError(answer) : null
  if (detail === null) return null
  const message = sanitizeMessage(detail.message) || 'The upstream reported an error.'
  return GatewayError.upstream(detail.status ?? 502, message, { type: detail.type, code: detail.code, param: detail.param, kind })
}

interface VendorError {
  message: string
  type: string | null
  code: string | null
  param: string | null
  /** The HTTP status that the error itself names. */
  status: number | null
}

function hasError(answer: JsonObject): boolean {
  if (answer.error !== undefined && answer.error !== null && answer.error !== false && answer.error !== '') return true
  if (answer.object === 'error') return true
  return isObject(answer.base_resp) && typeof answer.base_resp.status_code === 'number' && answer.base_resp.status_code !== 0
}

function vendorError(parsed: Json): VendorError | null {
  const body = Array.isArray(parsed) ? parsed[0] : parsed
  if (!isObject(body)) return null
  if (isObject(body.error)) return read(body.error)
  if (typeof body.error === 'string') return { ...read(body), message: body.error }
  if (isObject(body.base_resp)) return minimax(body.base_resp)
  if (Array.isArray(body.errors) && isObject(body.errors[0])) return read(body.errors[0])
  if (body.detail !== undefined) return validationDetail(body)
  return typeof body.message === 'string' ? read(body) : null
}

function read(error: JsonObject): VendorError {
  const code = text(error.code) ?? null
  const type = text(error.type) ?? text(error.status) ?? null
  const inner = isObject(error.metadata) ? text(error.metadata.raw) : undefined
  const message = text(error.message) ?? inner ?? text(error.msg) ?? code ?? type ?? ''
  return { message, type, code, param: text(error.param) ?? null, status: statusOf(error, type, code) }
}

/** FastAPI style: `detail` is a text or a list of `{loc, msg, type}` (mistral). */
function validationDetail(body: JsonObject): VendorError {
  const first = Array.isArray(body.detail) ? body.detail[0] : body.detail
  if (!isObject(first)) return { ...read(body), message: text(first) ?? 'The request was refused.' }
  const path = Array.isArray(first.loc) ? first.loc.filter((part, at) => !(at === 0 && part === 'body')) : []
  const param = path.length > 0 ? path.join('.') : null
  const message = text(first.msg) ?? text(first.message) ?? 'The request was refused.'
  return {
    message: param === null ? message : `${param}: ${message}`,
    type: null,
    code: text(first.type) ?? null,
    param,
    status: null,
  }
}

function minimax(resp: JsonObject): VendorError {
  const statuses: Readonly<Record<string, number>> = {
    1002: 429,
    1004: 401,
    1008: 402,
    1026: 400,
    1027: 400,
    1039: 429,
    2013: 400,
    2049: 401,
  }
  const code = String(resp.status_code)
  return { message: text(resp.status_msg) ?? `Error ${code}.`, type: null, code, param: null, status: statuses[code] ?? 502 }
}

function statusOf(error: JsonObject, type: string | null, code: string | null): number | null {
  for (const value of [error.code, error.status, error.status_code, error.http_code]) {
    const status = typeof value === 'string' && /^\d{3}$/.test(value) ? Number(value) : value
    if (typeof status === 'number' && status >= 400 && status <= 599) return status
  }
  const words = `${type ?? ''} ${code ?? ''}`
  if (/rate_limit|insufficient_quota|too_many|RESOURCE_EXHAUSTED/i.test(words)) return 429
  if (/overloaded/i.test(words)) return 529
  if (/authentication|invalid_api_key/i.test(words)) return 401
  if (/permission/i.test(words)) return 403
  if (/not_found/i.test(words)) return 404
  if (/invalid_request|content_filter|content_policy|context_length/i.test(words)) return 400
  return null
}

function parseJson(raw: string): Json | null {
  try {
    return JSON.parse(raw) as Json
  } catch {
    return null
  }
}
