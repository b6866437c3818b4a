// The OAuth clients of the configuration, one for each provider. None is built in: register your own with the vendor.
import { z } from 'zod'
import type { OAuthFlow } from './service.ts'

const address = z.url({ protocol: /^https?$/ })

export const oauthClient = z.strictObject({
  /** Name for people; default: the provider's. */
  name: z.string().min(1).max(100).optional(),
  clientId: z.string().min(1).max(500),
  /** Absent: a public client, as RFC 6749 section 2.1 calls it. */
  clientSecret: z.string().min(1).max(2000).optional(),
  /** How the client secret is sent (RFC 6749 section 2.3.1). */
  clientAuth: z.enum(['basic', 'post']).default('basic'),
  tokenUrl: address,
  /** With it accounts sign in by PKCE (RFC 7636). */
  authorizationUrl: address.optional(),
  /** With it accounts sign in by a code on another device (RFC 8628). */
  deviceUrl: address.optional(),
  /** RFC 7009: asked when an account is removed. */
  revocationUrl: address.optional(),
  /** OpenID Connect userinfo; without it the ID token says who signed in. */
  userinfoUrl: address.optional(),
  scopes: z.array(z.string().regex(/^[!#-[\]-~]+$/)).default([]),
  /** The redirect URI that is registered with the vendor. Default: a free port of 127.0.0.1. */
  redirectUri: z.url().optional(),
  /** More parameters of the authorization request, such as `audience`. */
  parameters: z.record(z.string(), z.string()).default({}),
  /** Base URL of the accounts' connections; default: the provider's. */
  baseUrl: address.optional(),
  /** For a provider outside of the registry. */
  wireFormat: z.enum(['chat', 'messages', 'responses', 'generate_content']).optional(),
})
export type OAuthClient = z.output<typeof oauthClient>

export const oauthClients = z.record(z.string().regex(/^[a-z0-9][a-z0-9._-]{0,63}$/), oauthClient)
export type OAuthClients = z.output<typeof oauthClients>

export function flowOf({ authorizationUrl, deviceUrl }: OAuthClient): OAuthFlow {
  if (deviceUrl === undefined) return 'pkce'
  return authorizationUrl === undefined ? 'device' : 'both'
}

/** @throws Error naming the client and its member. */
export function checkClients(clients: OAuthClients, profile: 'local' | 'cloud'): void {
  for (const [id, client] of Object.entries(clients)) {
    const at = `oauthAccounts.clients.${id}`
    if (client.authorizationUrl === undefined && client.deviceUrl === undefined)
      throw new Error(`${at}: give \`authorizationUrl\`, \`deviceUrl\` or both.`)
    for (const name of ['tokenUrl', 'authorizationUrl', 'deviceUrl', 'revocationUrl', 'userinfoUrl'] as const) {
      const url = client[name]
      if (url === undefined || url.startsWith('https:')) continue
      if (profile === 'cloud' || !isLoopback(new URL(url).hostname)) throw new Error(`${at}.${name}: must be an https URL.`)
    }
    const redirect = client.redirectUri === undefined ? null : new URL(client.redirectUri)
    if (redirect?.hash) throw new Error(`${at}.redirectUri: must not have a fragment.`)
  }
}

export function isLoopback(host: string): boolean {
  return host === 'localhost' || /^127\.\d+\.\d+\.\d+$/.test(host) || host === '[::1]'
}
