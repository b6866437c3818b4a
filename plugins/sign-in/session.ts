// Session tokens: signed JWTs that expire with the password that they were issued for.
import { errors, jwtVerify, SignJWT } from 'jose'
import { z } from 'zod'
import { randomId } from '../../core/ids/ids.ts'
import { sameDigest } from '../../core/ids/same-digest.ts'
import { encodeUtf8 } from '../../core/text/bytes.ts'
import type { Clock } from '../../core/types/ports.ts'
import { refused } from './refusal.ts'

export const SESSION_SECONDS = 12 * 60 * 60
const ISSUER = 'gateway'
const AUDIENCE = 'gateway/api'
const MAX_TOKEN_LENGTH = 4096
/** Maximum difference between replicas' clocks, s. */
const CLOCK_TOLERANCE = 5

const claims = z.object({ sub: z.literal('local'), typ: z.literal('session'), jti: z.string(), pwv: z.string(), exp: z.number() })

export interface Session {
  readonly jti: string
  /** Epoch ms. */
  readonly expiresAt: number
}

export interface Sessions {
  issue(): Promise<{ token: string; expiresAt: number }>
  /** @throws GatewayError 401. */
  verify(token: string): Promise<Session>
}

export interface SessionRules {
  readonly secret: Uint8Array
  readonly clock: Pick<Clock, 'now'>
  /** Identifies the current password: tokens issued for another one are refused. null: no session is valid. */
  readonly passwordVersion: string | null
  ended(jti: string): boolean
}

export function sessions({ secret, clock, passwordVersion, ended }: SessionRules): Sessions {
  return {
    async issue() {
      const now = Math.floor(clock.now() / 1000)
      const token = await new SignJWT({ org: null, role: 'owner', typ: 'session', pwv: passwordVersion })
        .setProtectedHeader({ alg: 'HS256', typ: 'JWT' })
        .setIssuer(ISSUER)
        .setAudience(AUDIENCE)
        .setSubject('local')
        .setIssuedAt(now)
        .setExpirationTime(now + SESSION_SECONDS)
        .setJti(randomId('', 22))
        .sign(secret)
      return { token, expiresAt: (now + SESSION_SECONDS) * 1000 }
    },
    async verify(token) {
      if (token.length > MAX_TOKEN_LENGTH) throw refused('The session token is not one of this gateway.')
      const { payload } = await jwtVerify(token, secret, {
        algorithms: ['HS256'],
        issuer: ISSUER,
        audience: AUDIENCE,
        typ: 'JWT',
        maxTokenAge: SESSION_SECONDS,
        clockTolerance: CLOCK_TOLERANCE,
        currentDate: new Date(clock.now()),
      }).catch((error: unknown) => {
        if (error instanceof errors.JWTExpired) throw refused('The session has ended. Sign in again.')
        throw refused('The session token is not one of this gateway.')
      })
      const known = claims.safeParse(payload)
      if (!known.success) throw refused('The session token is not one of this gateway.')
      const { jti, pwv, exp } = known.data
      if (passwordVersion === null || !sameDigest(pwv, passwordVersion) || ended(jti))
        throw refused('The session has ended. Sign in again.')
      return { jti, expiresAt: exp * 1000 }
    },
  }
}

/** Returns the first 8 hex digits of the SHA-256 of the password's hash; `open` when there is no password. */
export async function passwordVersionOf(passwordHash: string | null): Promise<string> {
  if (passwordHash === null) return 'open'
  const digest = await crypto.subtle.digest('SHA-256', encodeUtf8(passwordHash) as Uint8Array<ArrayBuffer>)
  return Array.from(new Uint8Array(digest, 0, 4), (byte) => byte.toString(16).padStart(2, '0')).join('')
}
