// POST /api/login, POST /api/auth/logout, GET /api/auth/me.
import { z } from 'zod'
import { GatewayError } from '../../core/errors/gateway-error.ts'
import type { Operator } from '../../core/types/operator.ts'
import type { PluginGateway } from '../../core/types/plugin/plugin.ts'
import type { View } from '../../core/types/ports/db.ts'
import type { Peer } from '../../core/types/ports/ports.ts'
import { bearerOf } from './operators.ts'
import { refused } from './refusal.ts'
import type { Profile } from './service.ts'
import { SESSION_SECONDS, type Sessions } from './session.ts'
import { slots } from './slots.ts'
import { endSession } from './store.ts'
import { forwardedAddress, type Throttle } from './throttle.ts'
import { TOKEN_PREFIX } from './tokens.ts'

/** The only account of a gateway without tenants. */
const ACCOUNT = 'local'
const HASHES_AT_ONCE = 2

const sessionToken = z.strictObject({
  token: z.string(),
  token_type: z.literal('Bearer'),
  expires_in: z.int().describe('Seconds.'),
  expires_at: z.string(),
  password_required: z.literal(false).optional().describe('Only where no password is set.'),
})
const profile = z.strictObject({
  user: z
    .strictObject({ id: z.int(), email: z.string(), name: z.string().nullable(), email_verified: z.boolean(), role: z.string() })
    .nullable(),
  org: z.strictObject({ id: z.int(), name: z.string() }).nullable(),
  role: z.enum(['member', 'manage', 'owner', 'system']),
  read_only: z.boolean(),
  orgs: z.array(z.strictObject({ id: z.int(), name: z.string(), role: z.enum(['member', 'manage', 'owner', 'system']) })),
  auth: z.enum(['open', 'password', 'token', 'host', 'oidc']),
  multi_tenant: z.boolean(),
  idp_enabled: z.boolean(),
})

export interface SignInRoutes {
  gateway: PluginGateway
  sessions: Sessions
  ended: View<unknown>
  /** null when no password is set. */
  checkPassword: ((password: string) => Promise<boolean>) | null
  multiTenant: boolean
  idpEnabled: boolean
  attempts: Throttle
  profile(operator: Operator): Profile
}

export function signInRoutes({
  gateway,
  sessions,
  ended,
  checkPassword,
  multiTenant,
  idpEnabled,
  attempts,
  profile: profileOf,
}: SignInRoutes): void {
  const audit = gateway.use('audit')
  const hashing = slots(HASHES_AT_ONCE)

  const record = (action: string, request: Request, peer: Peer, details: Record<string, string>): Promise<void> => {
    const forwarded = forwardedAddress(request.headers)
    return audit.append({
      orgId: null,
      actor: action === 'user.login' ? ACCOUNT : 'anonymous',
      action,
      target: ACCOUNT,
      details: { ...details, ...(forwarded !== null && { forwarded_for: forwarded }) },
      ip: peer.address,
    })
  }

  /** @throws GatewayError 429 before the hashing, also for the right password. */
  const right = (check: (password: string) => Promise<boolean>, password: string, address: string | null): Promise<boolean> =>
    hashing.run(async () => {
      const attempt = await attempts.attempt(ACCOUNT, address)
      const ok = await check(password)
      if (ok) await attempt.succeeded()
      return ok
    })

  gateway.api({
    method: 'POST',
    path: '/api/login',
    summary: 'The dashboard password for a session token, good for 12 hours.',
    role: 'public',
    body: z.strictObject({ password: z.string().min(1, 'must not be empty').max(1024).optional() }),
    response: sessionToken,
    // The route writes its own entries, because a failure is recorded too.
    audit: false,
    async handler({ body, request, peer }) {
      if (multiTenant && idpEnabled) throw GatewayError.forbidden('password login is disabled')
      if (multiTenant) throw GatewayError.invalid(null, 'This gateway has many tenants: sign in at POST /api/auth/login.')
      if (checkPassword === null) {
        if (peer.local !== true)
          throw refused(
            'No password is set, so only clients on the gateway’s own machine may sign in. Set GATEWAY_DASHBOARD_PASSWORD_HASH.',
          )
        await record('user.login', request, peer, { method: 'open' })
        return { ...(await issued()), password_required: false as const }
      }
      if (body.password === undefined) throw GatewayError.invalid('password', '`password` is missing.')
      const address = forwardedAddress(request.headers)
      const ok = await right(checkPassword, body.password, address).catch(async (error: unknown) => {
        if (GatewayError.is(error) && error.status === 429 && (await attempts.worthReporting(ACCOUNT)))
          await record('user.login_failed', request, peer, { reason: 'throttled' })
        throw error
      })
      if (!ok) {
        await record('user.login_failed', request, peer, { reason: 'wrong_password' })
        throw refused('The password is wrong.')
      }
      await record('user.login', request, peer, { method: 'password' })
      return issued()
    },
  })

  gateway.api({
    method: 'POST',
    path: '/api/auth/logout',
    summary: 'Ends the session whose token is presented, on every replica.',
    role: 'member',
    response: z.strictObject({ signed_out: z.literal(true) }),
    audit: 'user.logout',
    async handler({ request, audited }) {
      const token = bearerOf(request)
      audited(ACCOUNT)
      if (token === null) return { signed_out: true as const }
      if (token.startsWith(TOKEN_PREFIX))
        throw GatewayError.invalid(null, 'A management token has no session to end: DELETE /api/tokens/:id revokes it.')
      const { jti, expiresAt } = await sessions.verify(token)
      await ended.write((db) => endSession(db, jti, expiresAt))
      return { signed_out: true as const }
    },
  })

  gateway.api({
    method: 'GET',
    path: '/api/auth/me',
    summary: 'Returns the role and rights of the caller, and the way of signing in.',
    role: 'member',
    response: profile,
    handler: ({ operator }) => {
      const { user, org, orgs } = profileOf(operator)
      return {
        user,
        org,
        role: operator.role,
        read_only: operator.readOnly,
        orgs: [...orgs],
        auth: operator.auth,
        multi_tenant: multiTenant,
        idp_enabled: idpEnabled,
      }
    },
  })

  async function issued() {
    const { token, expiresAt } = await sessions.issue()
    const expires_at = new Date(expiresAt).toISOString()
    return { token, token_type: 'Bearer' as const, expires_in: SESSION_SECONDS, expires_at }
  }
}
