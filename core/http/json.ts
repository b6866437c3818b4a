// Reads and writes JSON of the control plane: bounded, scanned before it is parsed, never cached.
import { GatewayError } from '../errors/gateway-error.ts'
import { wireBody } from '../json/wire-body.ts'
import { webBody } from './web-exchange.ts'

const BODY_LIMIT = 2 * 1024 * 1024

/**
 * Returns the parsed body; an empty one is `{}`.
 * @throws GatewayError 413, 415, and 400 for a text that is not JSON, is too deep, or has a duplicate member.
 */
export async function jsonBody(request: Request): Promise<unknown> {
  const bytes = await webBody(request, BODY_LIMIT)
  if (bytes.length === 0) return {}
  const type = request.headers.get('content-type') ?? ''
  // Forms of other sites can send only text/plain and urlencoded bodies without a preflight.
  if (!/^application\/(?:[\w.+-]+\+)?json\b/i.test(type)) {
    throw new GatewayError('Send the body as `content-type: application/json`.', {
      status: 415,
      type: 'invalid_request_error',
      code: 'unsupported_media_type',
    })
  }
  return wireBody(bytes).json()
}

export function jsonAnswer(status: number, value: unknown): Response {
  return new Response(JSON.stringify(value), {
    status,
    headers: { 'content-type': 'application/json; charset=utf-8' },
  })
}
