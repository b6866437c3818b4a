// GET /api/auth/oidc/start and /callback. Browsers are sent to a page, other callers get the error envelope.
import { z } from 'zod'
import { GatewayError } from '../../core/errors/gateway-error.ts'
import type { AuditLog } from '../../core/services.ts'
import type { PluginGateway } from '../../core/types/plugin/plugin.ts'
import type { Peer } from '../../core/types/ports/ports.ts'
import type { Pending } from './pending.ts'
import { checkedReturn } from './return-to.ts'
import { begin, type Callback, finish, isState, opened, type SignInParts } from './sign-in.ts'

const CALLBACK = '/api/auth/oidc/callback'
const text = z.string().max(8192).optional()

export interface OidcRoutes {
  readonly gateway: PluginGateway
  readonly audit: AuditLog
  /** null: no identity provider is configured, and the routes are 404. */
  readonly parts: SignInParts | null
  /** GATEWAY_PUBLIC_URL without a slash at its end; null: the address of a local caller. */
  readonly publicUrl: string | null
}

export function oidcRoutes({ gateway, audit, parts, publicUrl }: OidcRoutes): void {
  const site = gateway.optional('site')
  const { log } = gateway

  const baseOf = (request: Request, peer: Peer): string => {
    if (publicUrl !== null) return publicUrl
    // The name in a stranger's request may be anything.
    if (peer.local !== true)
      throw GatewayError.unavailable('Set GATEWAY_PUBLIC_URL, so that the identity provider can send people back.')
    return new URL(request.url).origin
  }
  const wantsPage = (request: Request): boolean =>
    site() !== undefined && request.headers.get('accept')?.includes('text/html') === true

  /** Sends a browser to the sign-in page with the error's code. @throws the error for other callers. */
  const failed = (error: unknown, request: Request, base: string, headers: Record<string, string> = {}): Response => {
    const known = GatewayError.is(error) ? error : null
    log.warn('oidc.failed', { code: known?.code ?? null, error: known?.message ?? String(error), cause: causeOf(known) })
    if (!wantsPage(request)) throw error
    const code = known?.code ?? (known?.status === 403 ? 'forbidden' : 'sign_in_failed')
    return redirect(`${base}/#error=${encodeURIComponent(code)}`, headers)
  }

  gateway.api({
    method: 'GET',
    path: '/api/auth/oidc/start',
    summary: 'Sends a browser to the identity provider. 404 without one.',
    role: 'public',
    query: z.object({ return_to: z.string().default('/').describe('The path of the page to open after the sign-in.') }),
    async handler({ query, request, peer }) {
      const ready = configured(parts)
      const returnTo = checkedReturn(query.return_to)
      const base = baseOf(request, peer)
      try {
        await ready.sessions.attempts.check(ready.sessions.addressOf(request.headers))
        const { location, cookie } = await begin(ready, returnTo, base + CALLBACK)
        return redirect(location, { 'set-cookie': cookie })
      } catch (error) {
        return failed(error, request, base)
      }
    },
  })

  gateway.api({
    method: 'GET',
    path: CALLBACK,
    summary: 'Ends the sign-in with the identity provider: sends the browser to its page with `#token=<session token>`.',
    role: 'public',
    query: z.object({ code: text, state: text, iss: text, error: text }),
    async handler({ query, request, peer }) {
      const ready = configured(parts)
      const base = baseOf(request, peer)
      const cookies = request.headers.get('cookie')
      const headers: Record<string, string> = isState(query.state) ? { 'set-cookie': ready.pending.cleared(query.state) } : {}
      try {
        const { token, started } = await attempted(ready, request, async () => {
          const started = await opened(ready, query, cookies)
          return { started, ...(await recorded(ready, started, query, peer)) }
        })
        return redirect(`${base}${started.returnTo}#token=${token}`, headers)
      } catch (error) {
        return failed(error, request, base, headers)
      }
    },
  })

  /** Records how a sign-in ended that this gateway had begun: strangers write no entries. */
  async function recorded(ready: SignInParts, started: Pending, query: Callback, peer: Peer): Promise<{ token: string }> {
    const entry = { orgId: null, target: null, ip: peer.address }
    try {
      const done = await finish(ready, started, query, peer)
      const actor = `user:${done.userId}`
      await audit.append({ ...entry, orgId: done.orgId, actor, action: 'user.login', target: actor, details: { method: 'oidc' } })
      return done
    } catch (error) {
      const reason = GatewayError.is(error) ? (error.code ?? error.type) : 'failed'
      await audit.append({ ...entry, actor: 'anonymous', action: 'user.login_failed', details: { method: 'oidc', reason } })
      throw error
    }
  }
}

/** Counts a sign-in that the caller failed. The person is not known before its end. @throws GatewayError 429, or the sign-in's own error. */
async function attempted<T>({ sessions }: SignInParts, request: Request, work: () => Promise<T>): Promise<T> {
  const attempt = await sessions.attempts.attempt(null, sessions.addressOf(request.headers))
  try {
    const done = await work()
    await attempt.succeeded()
    return done
  } catch (error) {
    // A provider that does not answer says nothing about the caller.
    if (!GatewayError.is(error) || error.status >= 500) await attempt.succeeded()
    throw error
  }
}

function configured(parts: SignInParts | null): SignInParts {
  if (parts !== null) return parts
  throw new GatewayError('No identity provider is configured. Set GATEWAY_IDP_CLIENT_ID and GATEWAY_IDP_CLIENT_SECRET.', {
    status: 404,
    type: 'invalid_request_error',
    code: 'not_found',
  })
}

function redirect(location: string, headers: Record<string, string> = {}): Response {
  return new Response(null, {
    status: 302,
    headers: { location, 'cache-control': 'no-store', 'referrer-policy': 'no-referrer', ...headers },
  })
}

/** The code of a network error; its text holds addresses. */
function causeOf(error: GatewayError | null): string | undefined {
  const cause = error?.cause
  return typeof cause === 'object' && cause !== null && 'code' in cause ? String(cause.code) : undefined
}
