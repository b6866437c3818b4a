// Identifies the caller by the MAC of the presented key, in memory.
import { GatewayError } from '../../core/errors/gateway-error.ts'
import type { HeaderBag } from '../../core/types/ports/ports.ts'
import type { Principal, RequestContext } from '../../core/types/request/context.ts'
import { KEY_PREFIX } from './secret.ts'
import type { ClientKey, KeyService } from './service.ts'

/** A well-formed key that is not in memory: unknown, revoked, or just created by another process. */
export const UNKNOWN_KEY = Symbol('unknown key')

/** Returns all presented keys without duplicates; usually none or one. */
function presentedKeys(headers: HeaderBag, query: string): string[] {
  const found: string[] = []
  const add = (value: string | null | undefined): void => {
    const key = value?.trim()
    if (key && !found.includes(key)) found.push(key)
  }
  const authorization = headers.get('authorization')
  if (authorization !== null && /^bearer\s/i.test(authorization)) add(authorization.slice(7))
  add(headers.get('x-api-key'))
  // Azure's clients send it.
  add(headers.get('api-key'))
  add(headers.get('x-goog-api-key'))
  if (query !== '' && query.includes('key=')) add(new URLSearchParams(query).get('key'))
  return found
}

/**
 * undefined: anonymous. A text in another form is a dummy key of a tool and counts as none.
 * @throws GatewayError 401 for an expired key, and for two different valid ones.
 */
export function identified(
  ctx: RequestContext,
  keys: Pick<KeyService, 'find' | 'expired' | 'get'>,
): ClientKey | undefined | typeof UNKNOWN_KEY {
  const { ingress } = ctx
  if (ingress === null) return undefined
  const { actsFor } = ingress
  if (actsFor?.keyId === null) return undefined
  const presented = actsFor === undefined ? presentedKeys(ingress.headers, ingress.query) : [KEY_PREFIX]
  if (presented.length === 0) return undefined
  const found = actsFor?.keyId === undefined ? presented.map(keys.find) : [keys.get(actsFor.orgId, actsFor.keyId)]
  const known = found.filter((key) => key !== null)
  if (known.length > 1)
    throw GatewayError.unauthorized('Two different client keys were sent. Send one, as `Authorization: Bearer <key>`.')
  const [key] = known
  if (key === undefined) return presented.some((text) => text.startsWith(KEY_PREFIX)) ? UNKNOWN_KEY : undefined
  if (keys.expired(key)) {
    throw new GatewayError(`The client key \`${key.label}\` expired on ${new Date(key.expiresAt as number).toISOString()}.`, {
      status: 401,
      type: 'authentication_error',
      code: 'key_expired',
      headers: ['www-authenticate', 'Bearer'],
    })
  }
  return key
}

export function unknownKey(): GatewayError {
  return GatewayError.unauthorized(
    'This client key is unknown or was revoked. Make a new one with `hookgate key create`, in the dashboard or with POST /api/keys.',
  )
}

export function principalOf(key: ClientKey): Principal {
  const { id, label, orgId, allowedModels } = key
  return { keyId: id, label, orgId, allowedModels: allowedModels.length === 0 ? null : allowedModels }
}
