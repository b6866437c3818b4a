// Failures of a vendor's OAuth endpoints. Messages name the error code only: the vendor's own text may repeat a code or a token.
import { GatewayError } from '../../core/errors/gateway-error.ts'

/** Codes of RFC 6749 (4.1.2.1, 5.2), RFC 7009 and RFC 8628, each with the next step. */
const MEANINGS: Readonly<Record<string, string>> = {
  access_denied: 'The sign-in was refused. Begin again.',
  authorization_pending: 'The sign-in is not finished.',
  expired_token: 'The code expired. Begin again.',
  invalid_client: 'The vendor does not accept the client: check `clientId`, `clientSecret` and `clientAuth`.',
  invalid_grant: 'The vendor refused the code or token: it expired, was used before or was revoked. Sign in again.',
  invalid_request: 'The vendor does not accept the request: check the addresses and `parameters` of the client.',
  invalid_scope: 'The vendor does not give these scopes: check `scopes` of the client.',
  server_error: 'The vendor has a failure of its own. Try again later.',
  slow_down: 'The vendor asks for fewer polls.',
  temporarily_unavailable: 'The vendor is not available now. Try again later.',
  unauthorized_client: 'The client may not use this flow: check its registration with the vendor.',
  unsupported_grant_type: 'The vendor does not offer this flow to the client.',
  unsupported_response_type: 'The vendor does not offer this flow to the client.',
  unsupported_token_type: 'The vendor does not revoke such tokens.',
}

/** Codes that another attempt may change. */
const PASSING: ReadonlySet<string> = new Set(['server_error', 'temporarily_unavailable', 'unavailable'])

/** A refusal of the vendor. `code` is one of the standard codes, `unavailable` or `unknown_error`. */
export class VendorRefusal extends Error {
  readonly code: string

  constructor(code: string, cause?: unknown) {
    super(MEANINGS[code] ?? `The vendor answered with an error (${code}).`, cause === undefined ? undefined : { cause })
    this.name = 'VendorRefusal'
    this.code = code
  }

  get passing(): boolean {
    return PASSING.has(this.code)
  }
}

/** Returns a standard code for any text of a vendor. */
export function standardCode(given: unknown): string {
  return typeof given === 'string' && Object.hasOwn(MEANINGS, given) ? given : 'unknown_error'
}

/** 502: the vendor refused. */
export function refused(error: unknown): GatewayError {
  if (!(error instanceof VendorRefusal)) return GatewayError.from(error)
  return new GatewayError(error.message, { status: 502, type: 'api_error', code: `oauth_${error.code}` })
}
