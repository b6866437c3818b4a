// The package `oidc-provider` as the identity provider, with its own login and consent pages.
import { createServer } from 'node:http'
import { exportJWK, generateKeyPair } from 'jose'
import Provider from 'oidc-provider'
import { listening } from '../../../adapters/testing/network-faults.ts'
import { CLIENT } from './fake-issuer.ts'

export interface RealProvider {
  readonly url: string
  /** Registers the gateway. @param callback its redirect address */
  register(callback: string, secret?: string): void
  close(): Promise<void>
}

/** Anyone may sign in as `<login>@example.com`. */
export async function realProvider(): Promise<RealProvider> {
  const server = createServer()
  const url = `http://127.0.0.1:${await listening(server)}`
  const { privateKey } = await generateKeyPair('RS256', { extractable: true })
  const key = { ...(await exportJWK(privateKey)), kid: 'real', alg: 'RS256', use: 'sig' }
  return {
    url,
    register(callback, secret = CLIENT.secret) {
      const provider = new Provider(url, {
        clients: [{ client_id: CLIENT.id, client_secret: secret, redirect_uris: [callback] }],
        jwks: { keys: [key] },
        cookies: { keys: ['a key of the cookies of a test'] },
        claims: { openid: ['sub'], email: ['email', 'email_verified'], profile: ['name'] },
        findAccount: (_ctx: unknown, id: string) => ({
          accountId: id,
          claims: async () => ({ sub: id, email: `${id}@example.com`, email_verified: id !== 'unverified', name: id }),
        }),
        pkce: { required: () => true },
        features: { devInteractions: { enabled: true } },
      })
      server.on('request', provider.callback())
    },
    close: () =>
      new Promise((done) => {
        server.close(() => done())
        server.closeAllConnections()
      }),
  }
}
