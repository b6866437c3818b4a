// Session tokens: signed JWTs that expire with the password that they were issued for.
import { z } from 'zod'
import { randomId } from '../../core/ids/ids.ts'
import { sameDigest } from '../../core/ids/same-digest.ts'
import { encodeUtf8 } from '../../core/text/bytes.ts'
import type { Operator } from '../../core/types/operator.ts'
import type { Clock } from '../../core/types/ports/ports.ts'
import { refused } from './refusal.ts'
import type { Account, AccountSource, IssuedSession } from './service.ts'

export const SESSION_SECONDS = 12 * 60 * 60
const ISSUER = 'gateway'
const AUDIENCE = 'gateway/api'
const MAX_TOKEN_LENGTH = 4096
/** Maximum difference between replicas' clocks, s. */
const CLOCK_TOLERANCE = 5

const common = { typ: z.literal('session'), jti: z.string(), exp: z.number() }
const claims = z.union([
  z.object({ ...common, sub: z.literal('local'), pwv: z.string() }),
  z.object({
    ...common,
    sub: z
      .string()
      .regex(/^[1-9]\d{0,14}$/)
      .transform(Number),
    org: z.int().nullable(),
    gen: z.int(),
    amr: z.enum(['password', 'oidc']),
  }),
])

/** A session of the one operator, or of an account in multi-tenant mode. */
export interface Session {
  readonly jti: string
  /** Epoch ms. */
  readonly expiresAt: number
  readonly operator: Operator
}

export interface Sessions {
  issue(): Promise<IssuedSession>
  issueFor(account: Account, auth: 'password' | 'oidc'): Promise<IssuedSession>
  /** @throws GatewayError 401. */
  verify(token: string): Promise<Session>
}

export interface SessionRules {
  readonly secret: Uint8Array
  readonly clock: Pick<Clock, 'now'>
  /** Identifies the current password: tokens issued for another one are refused. null: the operator has no session. */
  readonly passwordVersion: string | null
  /** The operator behind a session of the dashboard password. */
  readonly owner: Operator
  /** Multi-tenant mode: who knows the accounts. */
  accounts(): AccountSource | null
  ended(jti: string): boolean
}

export function sessions({ secret, clock, passwordVersion, owner, accounts, ended }: SessionRules): Sessions {
  const signed = async (subject: string, payload: Record<string, unknown>): Promise<IssuedSession> => {
    const { SignJWT } = await import('jose')
    const now = Math.floor(clock.now() / 1000)
    const token = await new SignJWT({ ...payload, typ: 'session' })
      .setProtectedHeader({ alg: 'HS256', typ: 'JWT' })
      .setIssuer(ISSUER)
      .setAudience(AUDIENCE)
      .setSubject(subject)
      .setIssuedAt(now)
      .setExpirationTime(now + SESSION_SECONDS)
      .setJti(randomId('', 22))
      .sign(secret)
    return { token, expiresAt: (now + SESSION_SECONDS) * 1000 }
  }
  const operatorOf = (known: z.output<typeof claims>): Operator | null => {
    if (known.sub !== 'local') return accounts()?.operator({ userId: known.sub, orgId: known.org }, known.gen, known.amr) ?? null
    return passwordVersion !== null && sameDigest(known.pwv, passwordVersion) ? owner : null
  }
  return {
    issue: () => signed('local', { org: null, role: 'owner', pwv: passwordVersion }),
    issueFor({ userId, orgId }, auth) {
      const source = accounts()
      if (source === null) throw new Error('No plugin knows accounts: the plugin `organizations` is missing.')
      return signed(String(userId), { org: orgId, gen: source.generation(userId), amr: auth })
    },
    async verify(token) {
      if (token.length > MAX_TOKEN_LENGTH) throw refused('The session token is not one of this gateway.')
      const { errors, jwtVerify } = await import('jose')
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
      const { jti, exp } = known.data
      const operator = ended(jti) ? null : operatorOf(known.data)
      if (operator === null) throw refused('The session has ended. Sign in again.')
      return { jti, expiresAt: exp * 1000, operator }
    },
  }
}

/** Returns the first 8 hex digits of the SHA-256 of the password's hash; `open` when there is no password. */
export async function passwordVersionOf(passwordHash: string | null): Promise<string> {
  if (passwordHash === null) return 'open'
  const digest = await crypto.subtle.digest('SHA-256', encodeUtf8(passwordHash) as Uint8Array<ArrayBuffer>)
  return Array.from(new Uint8Array(digest, 0, 4), (byte) => byte.toString(16).padStart(2, '0')).join('')
}
