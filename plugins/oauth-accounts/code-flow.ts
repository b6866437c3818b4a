// The authorization-code flow with PKCE (RFC 7636, S256): the address to open, and the exchange of the code for tokens.
import { GatewayError } from '../../core/errors/gateway-error.ts'
import { randomId } from '../../core/ids/ids.ts'
import type { Clock } from '../../core/types/ports/ports.ts'
import { isLoopback, type OAuthClient, type OAuthClients } from './clients.ts'
import type { Logins } from './logins.ts'
import type { Loopback } from './loopback.ts'
import type { SignIn } from './sign-in.ts'
import type { Vendor } from './vendor.ts'
import { refused, standardCode, VendorRefusal } from './vendor-error.ts'

const LIFE_MS = 10 * 60_000

export interface CodeFlowParts {
  readonly clients: OAuthClients
  readonly logins: Logins
  readonly vendor: Vendor
  readonly clock: Pick<Clock, 'now'>
  readonly signIn: SignIn
  /** null: the people who sign in are not at this machine. */
  readonly loopback: Loopback | null
}

export interface CodeFlow {
  begin(
    orgId: number,
    provider: string,
    redirectUri: string | undefined,
  ): Promise<{ authorizeUrl: string; state: string; redirectUri: string; expiresAt: number }>
  /** Returns the id of the connection. */
  exchange(orgId: number, provider: string, answer: { state: string; code: string }): Promise<number>
}

export function codeFlow({ clients, logins, vendor, clock, signIn, loopback }: CodeFlowParts): CodeFlow {
  const flow: CodeFlow = {
    async begin(orgId, provider, given) {
      const client = clients[provider] as OAuthClient
      if (client.authorizationUrl === undefined)
        throw GatewayError.invalid('provider', `\`${provider}\` signs in with a code on another device: use its device flow.`)
      const expiresAt = clock.now() + LIFE_MS
      const verifier = randomId('', 43)
      const listener = given === undefined ? ((await loopback?.open(client.redirectUri, LIFE_MS)) ?? null) : null
      const redirectUri = listener?.redirectUri ?? redirectOf(client, given)
      const state = await logins.begin({ orgId, provider, kind: 'code', secrets: { verifier, redirectUri }, expiresAt })
      listener?.serve(state, (code) => flow.exchange(orgId, provider, { state, code }))
      const url = new URL(client.authorizationUrl)
      const parameters = {
        ...client.parameters,
        response_type: 'code',
        client_id: client.clientId,
        redirect_uri: redirectUri,
        ...(client.scopes.length === 0 ? {} : { scope: client.scopes.join(' ') }),
        state,
        code_challenge: await challengeOf(verifier),
        code_challenge_method: 'S256',
      }
      for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value)
      return { authorizeUrl: url.href, state, redirectUri, expiresAt }
    },

    async exchange(orgId, provider, { state, code }) {
      const row = await logins.find(orgId, 'code', state)
      if (row === undefined || row.provider !== provider || !(await logins.use(row)))
        throw GatewayError.invalid('state', '`state`: there is no such sign-in, it expired, or it was used before. Begin again.')
      loopback?.close(state)
      const client = clients[provider] as OAuthClient
      const { verifier = '', redirectUri = '' } = await logins.secrets(row)
      const form = { grant_type: 'authorization_code', code, redirect_uri: redirectUri, code_verifier: verifier }
      const answer = await vendor.token(client, form).catch((error: unknown) => {
        throw refused(error)
      })
      const id = await signIn(orgId, provider, client, answer)
      await logins.end(row, 'complete', id)
      return id
    },
  }
  return flow
}

/** Reads the address that the vendor sent the browser back to. @throws GatewayError 400, also for the vendor's refusal. */
export function answerIn(callbackUrl: string): { state: string; code: string } {
  const query = URL.canParse(callbackUrl) ? new URL(callbackUrl).searchParams : new URLSearchParams()
  const error = query.get('error')
  if (error !== null) throw GatewayError.invalid('callback_url', new VendorRefusal(standardCode(error)).message)
  const [state, code] = [query.get('state'), query.get('code')]
  if (state === null || code === null)
    throw GatewayError.invalid('callback_url', '`callback_url`: paste the whole address that the browser was sent to.')
  return { state, code }
}

/** @throws GatewayError 400: the code must not be sent anywhere else. */
function redirectOf({ redirectUri }: OAuthClient, given: string | undefined): string {
  if (given !== undefined && given !== redirectUri) {
    const url = URL.canParse(given) ? new URL(given) : null
    // RFC 8252, section 7.3: a program on the same machine listens on any port.
    if (url?.protocol === 'http:' && isLoopback(url.hostname) && url.hash === '') return given
    throw GatewayError.invalid('redirect_uri', '`redirect_uri` must be the registered one, or an http address of this machine.')
  }
  if (redirectUri !== undefined) return redirectUri
  throw GatewayError.invalid('redirect_uri', '`redirect_uri`: this client has no `redirectUri`. Give one, or configure it.')
}

async function challengeOf(verifier: string): Promise<string> {
  const { base64url } = await import('jose')
  return base64url.encode(new Uint8Array(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(verifier))))
}
