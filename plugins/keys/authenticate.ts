// Identifies the caller: the presented key, looked up by its MAC in memory.
import { GatewayError } from '../../core/errors/gateway-error.ts'
import type { Principal, RequestContext } from '../../core/types/context.ts'
import type { HeaderBag } from '../../core/types/ports.ts'
import { KEY_PREFIX } from './secret.ts'
import type { ClientKey, KeyService } from './service.ts'

/** A key of our form that is not in memory: unknown, revoked, or made by another process a moment ago. */
export const UNKNOWN_KEY = Symbol('unknown key')

/** Everything presented, without repeats; usually nothing or one. */
function presentedKeys(headers: HeaderBag, query: string): string[] {
  const found: string[] = []
  const add = (value: string | null | undefined): void => {
    const key = value?.trim()
    if (key && !found.includes(key)) found.push(key)
  }
  const authorization = headers.get('authorization')
  if (authorization !== null && /^bearer\s/i.test(authorization)) add(authorization.slice(7))
  add(headers.get('x-api-key'))
  // Azure's clients.
  add(headers.get('api-key'))
  add(headers.get('x-goog-api-key'))
  if (query !== '' && query.includes('key=')) add(new URLSearchParams(query).get('key'))
  return found
}

/**
 * undefined: anonymous. A string that is no key of ours is a dummy that a tool sends.
 * @throws GatewayError 401 for an expired key, and for two different valid ones.
 */
export function identified(
  ctx: RequestContext,
  keys: Pick<KeyService, 'find' | 'expired'>,
): ClientKey | undefined | typeof UNKNOWN_KEY {
  const { ingress } = ctx
  if (ingress === null) return undefined
  const presented = presentedKeys(ingress.headers, ingress.query)
  if (presented.length === 0) return undefined
  const known = presented.map(keys.find).filter((key) => key !== null)
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
