// Exchanges the code for tokens, and asks for claims that the ID token leaves out.
import { z } from 'zod'
import type { IssuerCalls } from './calls.ts'
import type { Metadata } from './issuer.ts'
import { refusal } from './refusal.ts'

const tokens = z.object({ id_token: z.string().min(1), access_token: z.string().min(1).optional() })
export type Tokens = z.output<typeof tokens>

const oauthError = z.object({ error: z.string() })

export interface Client {
  readonly id: string
  readonly secret: string
}

export interface Exchange {
  readonly code: string
  readonly verifier: string
  readonly redirectUri: string
}

/** @throws GatewayError 401 for a refused code, 503 for a refused client or an issuer that does not answer. */
export async function exchanged(
  calls: IssuerCalls,
  metadata: Metadata,
  client: Client,
  { code, verifier, redirectUri }: Exchange,
): Promise<Tokens> {
  const form = new URLSearchParams({
    grant_type: 'authorization_code',
    code,
    redirect_uri: redirectUri,
    code_verifier: verifier,
  })
  const methods = metadata.token_endpoint_auth_methods_supported
  const inHeader = methods === undefined || methods.includes('client_secret_basic')
  if (!inHeader) {
    form.set('client_id', client.id)
    form.set('client_secret', client.secret)
  }
  const headers = inHeader ? ['authorization', `Basic ${btoa(`${formed(client.id)}:${formed(client.secret)}`)}`] : []
  const { status, json } = await calls.post(metadata.token_endpoint, form, headers)
  if (status !== 200) {
    const error = oauthError.safeParse(json).data?.error
    throw refusal(error === 'invalid_grant' || error === 'invalid_request' ? 'code_refused' : 'client_refused')
  }
  const found = tokens.safeParse(json)
  if (!found.success) throw refusal('issuer_unavailable', 'It sent no ID token.')
  return found.data
}

/** Credentials in the header are form-encoded first. */
function formed(text: string): string {
  return new URLSearchParams({ x: text }).toString().slice(2)
}

/** Returns the claims of the userinfo endpoint; none when there is no such endpoint. @throws GatewayError 401 for another subject. */
export async function userinfo(
  calls: IssuerCalls,
  { userinfo_endpoint }: Metadata,
  accessToken: string | undefined,
  subject: string,
): Promise<Readonly<Record<string, unknown>>> {
  if (userinfo_endpoint === undefined || accessToken === undefined) return {}
  const { status, json } = await calls.get(userinfo_endpoint, ['authorization', `Bearer ${accessToken}`])
  const claims = z.record(z.string(), z.unknown()).safeParse(json)
  if (status !== 200 || !claims.success) throw refusal('issuer_unavailable', 'Its userinfo endpoint gave no claims.')
  if (claims.data.sub !== subject) throw refusal('invalid_id_token', 'The userinfo endpoint speaks of another subject.')
  return claims.data
}
