// Access to /metrics: open until access control is configured, then with a credential.
import { GatewayError } from '../../core/errors/gateway-error.ts'
import type { OperatorService } from '../../core/services.ts'
import type { Operator } from '../../core/types/operator.ts'
import type { Peer } from '../../core/types/ports/ports.ts'

export interface MetricsRules {
  /** True when no credential is required. */
  open(): boolean
  /** True: neither client keys nor the people of one organization are accepted. */
  readonly operatorOnly: boolean
  operators(): OperatorService | undefined
  /** Returns the organization of an active client key, null for the gateway's own; undefined: the secret is no such key. */
  organizationOf(secret: string): number | null | undefined
}

/** `tenant`: belongs to one organization, and sees no figures of the others. */
export type Reader = 'operator' | 'tenant'

/** @throws GatewayError 401; 403 for a client key, or a person of one organization, when only operators may read. */
export async function readerOf(request: Request, peer: Peer, rules: MetricsRules): Promise<Reader> {
  if (rules.open() || peer.operator !== undefined) return 'operator'
  const presented = credentials(request.headers)
  for (const credential of presented) {
    const operator = await operatorOf(credential, request, peer, rules.operators())
    if (operator === null) continue
    // The figures are those of the whole gateway.
    if (operator.orgId === null || operator.role === 'system') return 'operator'
    if (!rules.operatorOnly) return 'tenant'
    throw GatewayError.forbidden('/metrics takes a session of a system administrator only (GATEWAY_METRICS_REQUIRE_OPERATOR).')
  }
  for (const credential of presented) {
    const orgId = rules.organizationOf(credential)
    if (orgId === undefined) continue
    if (!rules.operatorOnly) return orgId === null ? 'operator' : 'tenant'
    throw GatewayError.forbidden('/metrics takes a session or management token only (GATEWAY_METRICS_REQUIRE_OPERATOR).')
  }
  const accepted = rules.operatorOnly ? 'a session or management token' : 'a session token, management token or client key'
  throw new GatewayError(`/metrics takes ${accepted}, as \`Authorization: Bearer\` or \`X-Api-Key\`.`, {
    status: 401,
    type: 'authentication_error',
    code: 'invalid_credentials',
    headers: ['www-authenticate', 'Bearer'],
  })
}

function credentials(headers: Headers): string[] {
  const authorization = headers.get('authorization') ?? ''
  const bearer = /^bearer\s/i.test(authorization) ? authorization.slice(7) : ''
  return [bearer, headers.get('x-api-key') ?? ''].map((text) => text.trim()).filter((text) => text !== '')
}

async function operatorOf(
  credential: string,
  request: Request,
  peer: Peer,
  operators: OperatorService | undefined,
): Promise<Operator | null> {
  if (operators === undefined) return null
  const asBearer = new Request(request.url, { headers: { authorization: `Bearer ${credential}` } })
  try {
    return await operators.identify(asBearer, peer)
  } catch (error) {
    if (GatewayError.is(error) && error.status === 401) return null
    throw error
  }
}
