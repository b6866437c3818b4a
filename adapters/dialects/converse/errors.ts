// Reads Bedrock's errors: the exception's name in a header or in the stream, and `message` in the body.
import { GatewayError } from '../../../core/errors/gateway-error.ts'
import { decodeUtf8 } from '../../../core/text/bytes.ts'
import { sanitizeMessage } from '../../../core/text/sanitize.ts'
import type { HeaderBag } from '../../../core/types/ports/ports.ts'
import { isObject, loose } from '../shared/fields.ts'

const STATUSES: Readonly<Record<string, number>> = {
  accessdeniedexception: 403,
  internalserverexception: 500,
  modelerrorexception: 424,
  modelnotreadyexception: 429,
  modelstreamerrorexception: 424,
  modeltimeoutexception: 408,
  resourcenotfoundexception: 404,
  servicequotaexceededexception: 429,
  serviceunavailableexception: 503,
  throttlingexception: 429,
  validationexception: 400,
}

export function decodeError(status: number, headers: HeaderBag, body: Uint8Array): GatewayError {
  const said = messageIn(body)
  const name = nameOf(headers.get('x-amzn-errortype') ?? said.type)
  // A model that failed is a failure of the upstream, which another account or model may not have.
  const seen = status === 424 ? 502 : isRefused(name) ? 401 : status
  const text = sanitizeMessage(said.message) || `The upstream answered with status ${status} and no readable message.`
  const message = isExpired(name) ? `${text.replace(/\.$/, '')}. ${NOT_RENEWED}` : text
  return GatewayError.upstream(seen, message, { type: name, code: name })
}

/** AWS answers unknown keys and expired session tokens with 403 or 400, as it does requests that only this model does not allow. */
function isRefused(name: string | null): boolean {
  return isExpired(name) || name === 'UnrecognizedClientException'
}

function isExpired(name: string | null): boolean {
  return name === 'ExpiredTokenException' || name === 'ExpiredToken'
}

const NOT_RENEWED =
  'Temporary AWS credentials are not renewed. Give the connection new ones, the key of a user, or a Bedrock API key.'

/** An exception inside a stream. */
export function streamError(
  name: string,
  body: Uint8Array,
): { status: number; code: string; message: string; retryable: boolean } {
  const found = STATUSES[name.toLowerCase()] ?? 502
  const status = found === 424 ? 502 : found
  const message = sanitizeMessage(messageIn(body).message) || 'The upstream ended the stream with an exception.'
  return { status, code: name, message, retryable: status >= 500 || status === 429 || status === 408 }
}

function messageIn(body: Uint8Array): { message: string; type: string | null } {
  const text = decodeUtf8(body.subarray(0, 64 << 10)).trim()
  try {
    const parsed: unknown = JSON.parse(text)
    if (isObject(parsed)) return { message: loose(parsed.message) || loose(parsed.Message), type: loose(parsed.__type) || null }
  } catch {}
  return { message: text.startsWith('<') ? '' : text, type: null }
}

/** `ThrottlingException:http://internal.amazon.com/…` → `ThrottlingException`. */
function nameOf(type: string | null): string | null {
  const name = type?.split(':')[0]?.split('#').at(-1)?.trim()
  return name === undefined || name === '' ? null : name
}
