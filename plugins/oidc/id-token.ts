// Verifies an ID token: signature by a published key, issuer, audience, times and nonce.
import type { JWTPayload, JWTVerifyGetKey, JWTVerifyOptions, errors as joseErrors } from 'jose'
import type { Clock } from '../../core/types/ports/ports.ts'
import type { Issuer, KeySet } from './issuer.ts'
import { refusal } from './refusal.ts'

/** Symmetric algorithms and `none` are not listed: the client secret is no key of the issuer. */
const ALGORITHMS = ['RS256', 'ES256']
/** Difference between the clocks of the issuer and the gateway, s. */
const TOLERANCE = 60
/** The token is fresh from the exchange. */
const MAX_AGE = '15m'
const MAX_LENGTH = 64 * 1024
const MAX_SUBJECT = 255

export interface Expected {
  /** As the issuer's configuration spells it. */
  readonly issuer: string
  readonly clientId: string
  readonly nonce: string
}

export interface IdClaims extends JWTPayload {
  sub: string
}

/** @throws GatewayError 401 for a token that does not fit, 503 when the keys cannot be fetched. */
export async function verifiedIdToken(
  token: string,
  { issuer, clientId, nonce }: Expected,
  source: Pick<Issuer, 'keys' | 'newerKeys'>,
  clock: Pick<Clock, 'now'>,
): Promise<IdClaims> {
  if (token.length > MAX_LENGTH) throw refusal('invalid_id_token', 'It is too long.')
  const { errors, jwtVerify } = await import('jose')
  const options: JWTVerifyOptions = {
    algorithms: ALGORITHMS,
    issuer,
    audience: clientId,
    clockTolerance: TOLERANCE,
    currentDate: new Date(clock.now()),
    maxTokenAge: MAX_AGE,
    requiredClaims: ['exp', 'iat', 'sub', 'nonce'],
  }
  const check = async (keys: KeySet): Promise<JWTPayload> => {
    try {
      return (await jwtVerify(token, keys, options)).payload
    } catch (error) {
      if (error instanceof errors.JWKSMultipleMatchingKeys) return anyOf(token, error, options)
      throw error
    }
  }
  try {
    const claims = await check(await source.keys()).catch(async (error: unknown) => {
      const newer = error instanceof errors.JWKSNoMatchingKey ? await source.newerKeys() : null
      if (newer === null) throw error
      return check(newer)
    })
    return fitting(claims, clientId, nonce)
  } catch (error) {
    if (error instanceof errors.JOSEError) throw refusal('invalid_id_token', reasonOf(error, errors), error)
    throw error
  }
}

/** A token without a key id may fit several keys. */
async function anyOf(token: string, keys: joseErrors.JWKSMultipleMatchingKeys, options: JWTVerifyOptions): Promise<JWTPayload> {
  const { errors, jwtVerify } = await import('jose')
  for await (const key of keys) {
    try {
      return (await jwtVerify(token, key as unknown as Parameters<JWTVerifyGetKey>[0] & CryptoKey, options)).payload
    } catch (error) {
      if (!(error instanceof errors.JWSSignatureVerificationFailed)) throw error
    }
  }
  throw new errors.JWSSignatureVerificationFailed()
}

function fitting(claims: JWTPayload, clientId: string, nonce: string): IdClaims {
  const { sub, aud, azp } = claims
  if (typeof sub !== 'string' || sub === '' || sub.length > MAX_SUBJECT)
    throw refusal('invalid_id_token', 'It has no usable `sub`.')
  if (claims.nonce !== nonce) throw refusal('invalid_id_token', 'Its `nonce` is of another sign-in.')
  if (azp === undefined ? Array.isArray(aud) && aud.length > 1 : azp !== clientId)
    throw refusal('invalid_id_token', 'Its `azp` is another client.')
  return { ...claims, sub }
}

/** The library's messages quote claims; these do not. */
function reasonOf(error: joseErrors.JOSEError, errors: typeof joseErrors): string {
  if (error instanceof errors.JWTExpired) return 'It has expired; compare the clocks of the gateway and the issuer.'
  if (error instanceof errors.JWTClaimValidationFailed) return `Its claim \`${error.claim}\` does not fit.`
  if (error instanceof errors.JOSEAlgNotAllowed) return `Its algorithm is none of ${ALGORITHMS.join(' and ')}.`
  if (error instanceof errors.JWKSNoMatchingKey) return 'The issuer publishes no key for it.'
  return 'Its signature or form is wrong.'
}
