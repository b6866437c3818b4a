// Converts between Google's error object and GatewayError: HTTP bodies (also wrapped in an array, or HTML), in-stream errors, and the
// frame for callers. Google's SDK recognizes an error frame only when `code` is a number.
import { entryOf } from '../../../core/collections/entry-of.ts'
import { GatewayError } from '../../../core/errors/gateway-error.ts'
import { durationMs, usableDelay } from '../../../core/errors/retry-hint.ts'
import { decodeUtf8 } from '../../../core/text/bytes.ts'
import type { GatewayErrorShape } from '../../../core/types/error.ts'
import type { Json, JsonObject } from '../../../core/types/request/canonical.ts'
import { camel, isObject, listField } from './fields.ts'

const STATUS_TEXT: Readonly<Record<number, string>> = {
  400: 'INVALID_ARGUMENT',
  401: 'UNAUTHENTICATED',
  402: 'RESOURCE_EXHAUSTED',
  403: 'PERMISSION_DENIED',
  404: 'NOT_FOUND',
  409: 'ABORTED',
  429: 'RESOURCE_EXHAUSTED',
  499: 'CANCELLED',
  500: 'INTERNAL',
  501: 'UNIMPLEMENTED',
  502: 'UNAVAILABLE',
  503: 'UNAVAILABLE',
  504: 'DEADLINE_EXCEEDED',
  529: 'UNAVAILABLE',
}
const TEXT_STATUS: Readonly<Record<string, number>> = {
  INVALID_ARGUMENT: 400,
  FAILED_PRECONDITION: 400,
  OUT_OF_RANGE: 400,
  UNAUTHENTICATED: 401,
  PERMISSION_DENIED: 403,
  NOT_FOUND: 404,
  ABORTED: 409,
  ALREADY_EXISTS: 409,
  RESOURCE_EXHAUSTED: 429,
  CANCELLED: 499,
  INTERNAL: 500,
  UNKNOWN: 500,
  UNIMPLEMENTED: 501,
  UNAVAILABLE: 503,
  DEADLINE_EXCEEDED: 504,
}
const UNKNOWN_NAME = /Unknown name "([^"]+)"(?: at '([^']*)')?/
/** Refusals that name a feature instead of a field. */
const NAMED_FEATURES: readonly [RegExp, string][] = [
  [/thinking.?level is not supported/i, 'generationConfig.thinkingConfig.thinkingLevel'],
  [/thinking.?budget is not supported/i, 'generationConfig.thinkingConfig.thinkingBudget'],
  [/thinking is not (enabled|supported)/i, 'generationConfig.thinkingConfig'],
  [/presence.?penalty is not (enabled|supported)/i, 'generationConfig.presencePenalty'],
  [/(frequency.?)?penalty is not (enabled|supported)/i, 'generationConfig.frequencyPenalty'],
  [/logprobs is not (enabled|supported)/i, 'generationConfig.responseLogprobs'],
  [/service.?tier is not supported/i, 'serviceTier'],
]
const ERROR_INFO = 'type.googleapis.com/google.rpc.ErrorInfo'
const RETRY_INFO = 'type.googleapis.com/google.rpc.RetryInfo'
/** Marks an ErrorInfo whose reason is an error code of this gateway or another hookgate. */
const DOMAIN = 'hookgate'
const MAX_MESSAGE = 1000
const MAX_CAUSE = 65_536

/** `code` is the HTTP status; the gateway's code is the `reason` of the ErrorInfo in `details`. */
export function encodeError(error: GatewayErrorShape): string {
  const { message, type, param } = error
  return JSON.stringify({ error: { message, type, param, ...coded(error, error.status < 400 ? 500 : error.status) } })
}

/** Returns the stream item that ends the stream with a failure. */
export function errorItem(error: GatewayErrorShape): string {
  const code = error.status >= 400 && error.status <= 599 ? error.status : 502
  return JSON.stringify({ error: { message: error.message, ...coded(error, code) } })
}

function coded(error: GatewayErrorShape, code: number): JsonObject {
  const status = statusText(code)
  const details = detailsOf(error, status)
  return { code, status, ...(details.length === 0 ? {} : { details }) }
}

function detailsOf({ code, param, retryAfterMs }: GatewayErrorShape, status: string): JsonObject[] {
  const details: JsonObject[] = []
  // Google's own code is in `status` already.
  if (code !== null && code !== status)
    details.push({ '@type': ERROR_INFO, reason: code, domain: DOMAIN, ...(param === null ? {} : { metadata: { param } }) })
  // The same whole seconds as in the header.
  if (retryAfterMs !== null) details.push({ '@type': RETRY_INFO, retryDelay: `${Math.max(1, Math.ceil(retryAfterMs / 1000))}s` })
  return details
}

export function decodeError(status: number, body: Uint8Array): GatewayError {
  const text = decodeUtf8(body, 0, Math.min(body.length, MAX_CAUSE))
  try {
    return errorOf(JSON.parse(text) as Json, status, 'status')
  } catch {
    const title = /<title[^>]*>([^<]*)</i.exec(text)?.[1]
    const plain = text.trimStart().startsWith('<') ? (title ?? '') : text
    return GatewayError.upstream(status, firstLine(plain) || `The upstream answered with status ${status}.`, {
      type: typeOf(status),
    })
  }
}

/** Returns whether a value is an error object, alone or in an array. */
export function isErrorBody(value: unknown): boolean {
  const body = Array.isArray(value) ? value[0] : value
  return isObject(body) && body.error !== undefined && body.error !== null && body.candidates === undefined
}

/** With `status` 0 the status is taken from the error itself, 502 when it has none. */
export function errorOf(value: Json, status: number, kind: 'status' | 'stream'): GatewayError {
  const body = Array.isArray(value) ? value[0] : value
  const error = isObject(body) ? body.error : undefined
  const fields = isObject(error) ? error : {}
  const word = typeof fields.status === 'string' ? fields.status : null
  const inner =
    typeof fields.code === 'number' && fields.code >= 400 && fields.code <= 599 ? fields.code : entryOf(TEXT_STATUS, word ?? '')
  const text = typeof error === 'string' ? error : typeof fields.message === 'string' ? fields.message : ''
  const info = infoOf(fields.details)
  const gateway = info?.domain === DOMAIN
  const badKey = info?.reason === 'API_KEY_INVALID' || /^API key (not valid|expired)/i.test(text)
  // Google answers 400 to a wrong key. The executor must see a credential failure, not a mistake of the caller.
  const real = badKey ? 401 : status || inner || 502
  return GatewayError.upstream(real, firstLine(text) || `The upstream answered with status ${real}.`, {
    type: gateway && typeof fields.type === 'string' ? fields.type : typeOf(real),
    code: badKey
      ? 'API_KEY_INVALID'
      : gateway
        ? String(info.reason)
        : (word ?? (typeof fields.code === 'string' ? fields.code : null)),
    param: gateway && isObject(info.metadata) && typeof info.metadata.param === 'string' ? info.metadata.param : null,
    retryAfterMs: kind === 'stream' ? retryDelay(fields.details) : null,
    field: fieldOf(text, fields.details),
    kind,
  })
}

export function statusText(status: number): string {
  return STATUS_TEXT[status] ?? (status >= 500 ? 'INTERNAL' : 'INVALID_ARGUMENT')
}

function typeOf(status: number): string | null {
  if (status === 401) return 'authentication_error'
  return status === 403 ? 'permission_error' : null
}

/** Returns the unsupported field that a refusal names, as a path into the body that was sent. */
function fieldOf(message: string, details: Json | undefined): string | null {
  const violations = listField(details)
    .filter(isObject)
    .flatMap((detail) => listField(detail.fieldViolations).filter(isObject))
    .map((violation) => violation.description)
  for (const text of [message, ...violations]) {
    const found = typeof text === 'string' ? UNKNOWN_NAME.exec(text) : null
    if (found !== null) return fieldPath(found[2] ?? '', found[1] as string)
  }
  return NAMED_FEATURES.find(([pattern]) => pattern.test(message))?.[1] ?? null
}

/** Google names the containers in snake case ("tools[0].function_declarations[1]"), and the key as it was sent. */
function fieldPath(container: string, name: string): string {
  const segments = container
    .replace(/\[(\d+)\]/g, '.$1')
    .split('.')
    .filter((segment) => segment !== '')
    .map(camel)
  return [...segments, name.replaceAll('.', '\\.')].join('.')
}

function infoOf(details: Json | undefined): JsonObject | null {
  for (const detail of listField(details)) if (isObject(detail) && typeof detail.reason === 'string') return detail
  return null
}

/** A stream has no Retry-After header, so its error frame contains the delay. */
function retryDelay(details: Json | undefined): number | null {
  for (const detail of listField(details)) {
    if (isObject(detail) && typeof detail.retryDelay === 'string') return usableDelay(durationMs(detail.retryDelay))
  }
  return null
}

function firstLine(text: string): string {
  return (text.trim().split(/[\r\n]/, 1)[0] as string).slice(0, MAX_MESSAGE)
}
