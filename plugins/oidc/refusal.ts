// Errors of the sign-in with an identity provider. Their codes are in the address of the sign-in page; their texts hold nothing of a token.
import { GatewayError } from '../../core/errors/gateway-error.ts'

const KINDS = {
  invalid_state: [
    400,
    'invalid_request_error',
    'This sign-in was not started in this browser, was used already, or is older than 10 minutes. Sign in again.',
  ],
  access_denied: [403, 'permission_error', 'The identity provider refused the sign-in.'],
  issuer_error: [502, 'api_error', 'The identity provider reported an error. Sign in again.'],
  code_refused: [401, 'authentication_error', 'The identity provider refused the code. Sign in again.'],
  client_refused: [
    503,
    'api_error',
    'The identity provider refused this gateway. Check GATEWAY_IDP_CLIENT_ID, GATEWAY_IDP_CLIENT_SECRET and the redirect address.',
  ],
  invalid_id_token: [401, 'authentication_error', 'The identity token is not valid for this sign-in.'],
  email_missing: [403, 'permission_error', 'The identity provider gave no e-mail address.'],
  email_unverified: [403, 'permission_error', 'The identity provider has not verified this e-mail address.'],
  domain_not_allowed: [403, 'permission_error', 'E-mail addresses of this domain may not sign in.'],
  too_many_groups: [403, 'permission_error', 'The identity provider left out the groups because there are too many.'],
  issuer_unavailable: [503, 'api_error', 'The identity provider cannot be reached or answers wrongly. Try again later.'],
} as const

export type RefusalCode = keyof typeof KINDS

/** @param detail appended to the message; for logs and API callers. */
export function refusal(code: RefusalCode, detail: string | null = null, cause?: unknown): GatewayError {
  const [status, type, message] = KINDS[code]
  return new GatewayError(detail === null ? message : `${message} ${detail}`, { status, type, code, cause })
}
