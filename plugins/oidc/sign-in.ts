// The two steps of a sign-in: to the identity provider, and back with a code.
import type { PluginGateway, Services } from '../../core/types/plugin/plugin.ts'
import type { Peer } from '../../core/types/ports/ports.ts'
import type { IssuerCalls } from './calls.ts'
import { type Client, exchanged, userinfo } from './exchange.ts'
import { verifiedIdToken } from './id-token.ts'
import { type ExternalIdentity, type IdentityRules, identityOf, incomplete } from './identity.ts'
import type { Issuer, Metadata } from './issuer.ts'
import { challengeOf, firstUse, type Pending, type PendingSignIns, randomText } from './pending.ts'
import { refusal } from './refusal.ts'

export interface SignInParts {
  readonly gateway: Pick<PluginGateway, 'db' | 'clock' | 'log'>
  readonly issuer: Issuer
  readonly calls: IssuerCalls
  readonly client: Client
  readonly scopes: readonly string[]
  readonly rules: IdentityRules
  readonly pending: PendingSignIns
  readonly organizations: () => Services['organizations'] | undefined
  readonly sessions: Pick<Services['signIn'], 'issue' | 'attempts' | 'addressOf'>
}

export interface Callback {
  readonly code?: string | undefined
  readonly state?: string | undefined
  readonly iss?: string | undefined
  readonly error?: string | undefined
}

export interface SignedIn {
  readonly token: string
  readonly userId: number
  readonly orgId: number | null
}

const STATE = /^[\w-]{43}$/
const MAX_CODE = 4096

export function isState(text: string | undefined): text is string {
  return text !== undefined && STATE.test(text)
}

/** Returns the address at the identity provider and the cookie of this sign-in. @throws GatewayError 503. */
export async function begin(
  { issuer, client, scopes, pending }: SignInParts,
  returnTo: string,
  redirectUri: string,
): Promise<{ location: string; cookie: string }> {
  const metadata = await issuer.metadata()
  const started: Pending = {
    state: randomText(),
    nonce: randomText(),
    verifier: randomText(),
    returnTo,
    issuer: metadata.issuer,
    redirectUri,
  }
  const location = new URL(metadata.authorization_endpoint)
  const query = {
    response_type: 'code',
    client_id: client.id,
    redirect_uri: redirectUri,
    scope: scopes.join(' '),
    state: started.state,
    nonce: started.nonce,
    code_challenge: await challengeOf(started.verifier),
    code_challenge_method: 'S256',
  }
  for (const [name, value] of Object.entries(query)) location.searchParams.set(name, value)
  return { location: location.href, cookie: await pending.cookie(started) }
}

/** Returns the sign-in that this browser began, once. @throws GatewayError 400. */
export async function opened({ gateway, pending }: SignInParts, { state }: Callback, cookies: string | null): Promise<Pending> {
  const started = isState(state) ? await pending.open(cookies, state) : null
  if (started === null || !(await firstUse(gateway.db, 'state', started.state, gateway.clock.now())))
    throw refusal('invalid_state')
  return started
}

/** @throws GatewayError 400 to 403 for whatever does not fit, 503 when the identity provider does not answer. */
export async function finish(parts: SignInParts, started: Pending, callback: Callback, peer: Peer): Promise<SignedIn> {
  const { gateway, issuer, sessions } = parts
  const metadata = await issuer.metadata()
  checkIssuer(metadata, started, callback.iss)
  const { code, error } = callback
  if (error !== undefined) throw issuerError(error)
  if (code === undefined || code === '' || code.length > MAX_CODE) throw refusal('issuer_error', 'It sent no code.')
  if (!(await firstUse(gateway.db, 'code', code, gateway.clock.now()))) throw refusal('code_refused')
  const organizations = parts.organizations()
  if (organizations === undefined) throw new Error('No plugin knows organizations.')
  const account = await organizations.signedInBy(await identified(parts, metadata, started, code), peer)
  return { ...account, token: (await sessions.issue(account, 'oidc')).token }
}

/** An answer of one issuer is never used for another. */
function checkIssuer(metadata: Metadata, started: Pending, iss: string | undefined): void {
  if (started.issuer !== metadata.issuer) throw refusal('invalid_state')
  const named = iss ?? (metadata.authorization_response_iss_parameter_supported === true ? '' : metadata.issuer)
  if (named !== metadata.issuer) throw refusal('issuer_error', 'The answer is of another issuer.')
}

function issuerError(error: string): Error {
  // The text comes from the address, so that only a name of the standard's form is shown.
  const shown = /^[a-z_]{1,40}$/.test(error) ? `It said \`${error}\`.` : null
  if (error === 'temporarily_unavailable' || error === 'server_error') return refusal('issuer_unavailable', shown)
  return refusal(error === 'access_denied' ? 'access_denied' : 'issuer_error', shown)
}

async function identified(parts: SignInParts, metadata: Metadata, started: Pending, code: string): Promise<ExternalIdentity> {
  const { gateway, issuer, calls, client, rules } = parts
  const { verifier, redirectUri, nonce } = started
  const tokens = await exchanged(calls, metadata, client, { code, verifier, redirectUri })
  const expected = { issuer: metadata.issuer, clientId: client.id, nonce }
  const claims = await verifiedIdToken(tokens.id_token, expected, issuer, gateway.clock)
  const more = incomplete(claims, rules) ? await userinfo(calls, metadata, tokens.access_token, claims.sub) : {}
  return identityOf(metadata.issuer, claims.sub, { ...more, ...claims }, rules)
}
