// Authenticates a listener. EventSource cannot send headers, so this route alone accepts a session token in the query.
import { GatewayError } from '../../core/errors/gateway-error.ts'
import type { OperatorService } from '../../core/services.ts'
import type { Operator } from '../../core/types/operator.ts'
import type { Peer } from '../../core/types/ports/ports.ts'

const SESSION_TOKEN = /^[\w-]{1,2048}\.[\w-]{1,2048}\.[\w-]{1,1024}$/
const LOCAL: Operator = { actor: 'local', orgId: null, role: 'system', readOnly: false, auth: 'open' }

export interface Listener {
  readonly operator: Operator
  /** Identifies one credential, or one address without sign-in. Never shown. */
  readonly session: string
}

/** @throws GatewayError 401. */
export async function listenerOf(
  request: Request,
  token: string | undefined,
  peer: Peer,
  operators: OperatorService | undefined,
): Promise<Listener> {
  if (peer.operator !== undefined) return { operator: peer.operator, session: `actor ${peer.operator.actor}` }
  const operator =
    operators === undefined ? (peer.local === true ? LOCAL : null) : await operators.identify(credentialled(request, token), peer)
  if (operator === null) throw refused()
  const session =
    operator.auth === 'open' ? `address ${peer.address}` : credentialled(request, token).headers.get('authorization')
  return { operator, session: session ?? '' }
}

/** An Authorization header takes precedence. */
function credentialled(request: Request, token: string | undefined): Request {
  if (token === undefined || request.headers.has('authorization')) return request
  // A management token does not expire, so it must not appear in an address.
  if (!SESSION_TOKEN.test(token)) throw refused()
  const { origin, pathname } = new URL(request.url)
  return new Request(`${origin}${pathname}`, { headers: { authorization: `Bearer ${token}` } })
}

function refused(): GatewayError {
  return new GatewayError(
    'Sign in first: send a session or management token as `Authorization: Bearer <token>`, or where headers cannot be sent a session token as `?access_token=`.',
    { status: 401, type: 'authentication_error', code: 'invalid_credentials', headers: ['www-authenticate', 'Bearer'] },
  )
}
