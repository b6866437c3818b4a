// Diagnosis of a failed test request: one of a closed list of kinds, the upstream's own message, and a hint.
import { z } from 'zod'
import { isQuota } from '../../core/errors/classify.ts'
import { GatewayError } from '../../core/errors/gateway-error.ts'

const HINTS = {
  credentials: 'The provider refuses the key. Check `api_key`: is it complete, of this provider, and not revoked?',
  permission: 'The key is known, and may not do this. Look at its permissions, project or region at the provider.',
  quota: 'The account has no credit or quota left. Look at the billing page of the provider.',
  rate_limit: 'The key works; the account is at its rate limit. Try again later.',
  model: 'The provider does not know this model, or the account has no access to it. Name another one as `model`.',
  request: 'The provider refuses the request itself. Check `base_url`, `wire_format` and the model.',
  upstream: 'The provider failed. Try again later, or look at its status page.',
  connect: 'No server answers at this address. Check `base_url`, and whether this machine may reach it.',
  dns: 'The host name does not resolve. Check `base_url`.',
  tls: 'The TLS handshake failed. Check the scheme and port of `base_url`, and the certificate of the server.',
  proxy: 'The proxy failed or refused. Check `proxy_url` and GATEWAY_OUTBOUND_PROXY.',
  reset: 'The connection was cut. Try again; if it stays so, check `base_url` and what is between.',
  timeout: 'There was no answer in time. Check `base_url`, `proxy_url` and the firewall.',
  protocol: 'What answers does not speak this wire format. Check `base_url` and `wire_format`.',
  disabled: 'Set `enabled` to true, then test again.',
  unreadable: 'What was sealed does not open with this master key. Enter the key and the other secrets again.',
  unavailable: 'The gateway itself keeps this connection out for now; its `state` says why.',
} as const

export type DiagnosisKind = keyof typeof HINTS

export const diagnosis = z.strictObject({
  ok: z.boolean(),
  status: z.int().nullable().describe('Of the provider’s answer; null when there was none.'),
  latency_ms: z.int(),
  model: z.string().nullable(),
  error: z
    .strictObject({
      kind: z.enum(Object.keys(HINTS) as [DiagnosisKind, ...DiagnosisKind[]]),
      message: z.string(),
      hint: z.string(),
    })
    .nullable(),
})

export function failure(kind: DiagnosisKind, message: string) {
  return { kind, message, hint: HINTS[kind] }
}

/** The provider's own message. Callers of the data plane see less of it. */
export function refusalOf(error: GatewayError): GatewayError {
  const { cause } = error
  return GatewayError.is(cause) && cause.upstream !== null ? refusalOf(cause) : error
}

export function failureOf(error: GatewayError) {
  return failure(kindOf(error), error.message)
}

function kindOf(error: GatewayError): DiagnosisKind {
  const { upstream } = error
  if (error.skip !== null || upstream === null) return error.code === 'upstream_timeout' ? 'timeout' : 'unavailable'
  if (upstream.status === 0) return upstream.kind === 'status' || upstream.kind === 'stream' ? 'protocol' : upstream.kind
  if (upstream.kind === 'protocol') return 'protocol'
  return kindOfStatus(upstream.status, error)
}

/** Some answer a wrong key with 400. */
const WRONG_KEY = /api[ _-]?key.{0,20}(?:not valid|invalid|incorrect|expired)|(?:invalid|incorrect).{0,10}api[ _-]?key/i

function kindOfStatus(status: number, error: GatewayError): DiagnosisKind {
  if (status === 401 || (status === 400 && WRONG_KEY.test(error.message))) return 'credentials'
  if (status === 402 || isQuota(error)) return 'quota'
  if (status === 403) return 'permission'
  if (status === 404) return 'model'
  if (status === 408) return 'timeout'
  if (status === 429) return 'rate_limit'
  return status >= 500 ? 'upstream' : 'request'
}
