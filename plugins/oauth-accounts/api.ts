// /api/oauth: the providers that can be signed in to, the sign-ins and the accounts.
import { z } from 'zod'
import { GatewayError } from '../../core/errors/gateway-error.ts'
import { notFound } from '../../core/http/api-routes.ts'
import { deleted, idParams } from '../../core/http/schemas.ts'
import type { PluginGateway, Services } from '../../core/types/plugin/plugin.ts'
import { flowOf, type OAuthClients } from './clients.ts'
import { answerIn, type CodeFlow } from './code-flow.ts'
import type { DeviceFlow } from './device-flow.ts'
import { type AccountRow, accountOf, allAccounts, removeAccount, type TokenSealer } from './store.ts'
import type { TokenKeeper } from './tokens.ts'
import type { Vendor } from './vendor.ts'

export interface OAuthRoutes {
  readonly gateway: PluginGateway
  readonly clients: OAuthClients
  readonly accounts: Services['accounts']
  readonly code: CodeFlow
  readonly device: DeviceFlow
  readonly keeper: TokenKeeper
  readonly sealer: TokenSealer
  readonly vendor: Vendor
  nameOf(provider: string): string
}

const accountRecord = z.strictObject({
  id: z.int().describe('The id of its connection.'),
  provider: z.string(),
  email: z.string().nullable(),
  display_name: z.string().nullable(),
  plan: z.string().nullable(),
  status: z.enum(['active', 'reauth_required']),
  expires_at: z.string().nullable().describe('Of the access token, which is renewed before; null: it does not expire.'),
  last_refresh_at: z.string(),
  scopes: z.array(z.string()),
})

/** Instead of the body's own members, in the audit entry: the code is a secret until it expires. */
const UNSHOWN = { state: '***', code: '***', callback_url: '***' }

const providerParams = z.object({ provider: z.string().min(1).max(64) })
const sessionParams = z.object({ session_id: z.string().regex(/^[0-9A-Za-z]{43}$/) })

export function oauthRoutes(parts: OAuthRoutes): void {
  const { gateway, clients, code, device, keeper } = parts
  const { db } = gateway
  const known = (provider: string): string => {
    if (Object.hasOwn(clients, provider)) return provider
    throw notFound(`There is no OAuth client for \`${provider}\`. Add it to \`clients\` of the plugin \`oauth-accounts\`.`)
  }
  const mine = async (orgId: number | null, id: number): Promise<AccountRow> => {
    const row = await accountOf(db, id)
    if (row === undefined || row.org_id !== (orgId ?? 0) || !connected(parts, row)) throw notFound(`There is no account ${id}.`)
    return row
  }
  const shown = async (orgId: number | null, id: number) => recordOf(await mine(orgId, id))

  gateway.api({
    method: 'GET',
    path: '/api/oauth/providers',
    summary: 'Providers whose accounts can be signed in to.',
    role: 'member',
    response: z.strictObject({
      data: z.array(
        z.strictObject({
          id: z.string(),
          name: z.string(),
          flow: z.enum(['pkce', 'device', 'both']),
          configured: z.literal(true),
          scopes: z.array(z.string()),
        }),
      ),
    }),
    handler: () => ({
      data: Object.entries(clients).map(([id, client]) => ({
        id,
        name: client.name ?? parts.nameOf(id),
        flow: flowOf(client),
        configured: true as const,
        scopes: client.scopes,
      })),
    }),
  })

  gateway.api({
    method: 'GET',
    path: '/api/oauth/accounts',
    summary: 'Accounts that are signed in to, without their tokens.',
    role: 'member',
    response: z.strictObject({ data: z.array(accountRecord) }),
    async handler({ orgId }) {
      const rows = await allAccounts(db)
      return { data: rows.filter((row) => row.org_id === (orgId ?? 0) && connected(parts, row)).map(recordOf) }
    },
  })

  gateway.api({
    method: 'POST',
    path: '/api/oauth/:provider/authorize',
    summary: 'Begins a sign-in with PKCE: open the address in a browser. Ends after 10 minutes.',
    role: 'manage',
    params: providerParams,
    body: z.strictObject({ redirect_uri: z.string().max(2048).optional() }).default({}),
    response: z.strictObject({
      authorize_url: z.string(),
      state: z.string(),
      redirect_uri: z.string(),
      expires_at: z.string(),
    }),
    audit: 'oauth.begin',
    async handler({ params, body, orgId, audited }) {
      const provider = known(params.provider)
      const begun = await code.begin(orgId ?? 0, provider, body.redirect_uri)
      audited(provider)
      return {
        authorize_url: begun.authorizeUrl,
        state: begun.state,
        redirect_uri: begun.redirectUri,
        expires_at: new Date(begun.expiresAt).toISOString(),
      }
    },
  })

  gateway.api({
    method: 'POST',
    path: '/api/oauth/:provider/exchange',
    summary: 'Finishes a sign-in with the code, or with the whole address that the browser was sent to.',
    role: 'manage',
    status: 201,
    params: providerParams,
    body: z.strictObject({
      state: z.string().max(200).optional(),
      code: z.string().min(1).max(4096).optional(),
      callback_url: z.string().max(8192).optional(),
    }),
    response: accountRecord,
    audit: 'oauth.sign_in',
    async handler({ params, body, orgId, audited }) {
      const provider = known(params.provider)
      const answer = body.callback_url === undefined ? pairOf(body) : answerIn(body.callback_url)
      const id = await code.exchange(orgId ?? 0, provider, answer)
      audited(id, { provider, ...UNSHOWN })
      return shown(orgId, id)
    },
  })

  gateway.api({
    method: 'POST',
    path: '/api/oauth/:provider/device',
    summary: 'Begins a sign-in with a code that is entered on another device.',
    role: 'manage',
    params: providerParams,
    response: z.strictObject({
      session_id: z.string(),
      user_code: z.string(),
      verification_uri: z.string(),
      verification_uri_complete: z.string().nullable(),
      interval: z.number().describe('Seconds.'),
      expires_in: z.number().describe('Seconds.'),
    }),
    audit: 'oauth.begin',
    async handler({ params, orgId, audited }) {
      const provider = known(params.provider)
      const begun = await device.begin(orgId ?? 0, provider)
      audited(provider)
      return {
        session_id: begun.sessionId,
        user_code: begun.userCode,
        verification_uri: begun.verificationUri,
        verification_uri_complete: begun.verificationUriComplete,
        interval: begun.interval,
        expires_in: begun.expiresIn,
      }
    },
  })

  gateway.api({
    method: 'POST',
    path: '/api/oauth/device/:session_id/poll',
    summary: 'Asks whether the code was entered. The vendor is asked no more often than it allows.',
    role: 'manage',
    params: sessionParams,
    response: z.strictObject({
      status: z.enum(['pending', 'slow_down', 'complete', 'denied', 'expired']),
      account: accountRecord.optional(),
    }),
    audit: 'oauth.poll',
    async handler({ params, orgId, audited, unaudited }) {
      const { status, connectionId } = await device.poll(orgId ?? 0, params.session_id)
      // Pages ask every few seconds: only the outcome is a change.
      if (status === 'pending' || status === 'slow_down') unaudited()
      else audited(connectionId ?? '-', { status })
      return { status, ...(connectionId === undefined ? {} : { account: await shown(orgId, connectionId) }) }
    },
  })

  gateway.api({
    method: 'POST',
    path: '/api/oauth/accounts/:id/refresh',
    summary: 'Renews the access token of an account now.',
    role: 'manage',
    params: idParams,
    response: accountRecord,
    audit: 'oauth.refresh',
    async handler({ params, orgId }) {
      await mine(orgId, params.id)
      await keeper.refresh(String(params.id))
      return shown(orgId, params.id)
    },
  })

  gateway.api({
    method: 'DELETE',
    path: '/api/oauth/accounts/:id',
    summary: 'Revokes the tokens where the vendor allows it, and removes the account and its connection.',
    role: 'manage',
    params: idParams,
    response: deleted,
    audit: 'oauth.sign_out',
    async handler({ params, orgId, audited }) {
      const row = await mine(orgId, params.id)
      await revoked(parts, row)
      await parts.accounts.signedOut(orgId, row.connection_id, (inside) => removeAccount(inside, row.connection_id))
      keeper.forget(String(row.connection_id))
      audited(params.id, { provider: row.provider })
      return { deleted: true as const }
    },
  })
}

function connected({ accounts }: OAuthRoutes, row: AccountRow): boolean {
  return accounts.list().some(({ connection }) => connection.id === String(row.connection_id))
}

/** Never rejects: an account can be removed while its vendor fails. */
async function revoked({ clients, sealer, vendor, gateway }: OAuthRoutes, row: AccountRow): Promise<void> {
  const client = clients[row.provider]
  if (client === undefined) return
  try {
    const { refresh, access } = await sealer.open(row)
    if (refresh === null) await vendor.revoke(client, access, 'access_token')
    else await vendor.revoke(client, refresh, 'refresh_token')
  } catch {
    gateway.log.warn('oauth.not_revoked', { connection: row.connection_id, provider: row.provider })
  }
}

function pairOf({ state, code }: { state?: string | undefined; code?: string | undefined }): { state: string; code: string } {
  if (state === undefined) throw GatewayError.invalid('state', '`state`: send `state` and `code`, or `callback_url`.')
  if (code === undefined) throw GatewayError.invalid('code', '`code`: send `state` and `code`, or `callback_url`.')
  return { state, code }
}

function recordOf(row: AccountRow): z.input<typeof accountRecord> {
  return {
    id: row.connection_id,
    provider: row.provider,
    email: row.email,
    display_name: row.display_name,
    plan: row.plan,
    status: row.status,
    expires_at: row.expires_at === null ? null : new Date(row.expires_at).toISOString(),
    last_refresh_at: new Date(row.refreshed_at).toISOString(),
    scopes: row.scopes,
  }
}
