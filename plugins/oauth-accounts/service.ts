// Type of the service `oauthAccounts`: the providers that can be signed in to, and the accounts that need a new sign-in.
import type { Connection } from '../../core/types/ports/provider.ts'

export type OAuthFlow = 'pkce' | 'device' | 'both'

export interface OAuthAccountService {
  /** Ids of the providers with a client. */
  readonly providers: readonly string[]
  /** Returns the ways to sign in to a provider; null: there is no client for it. */
  flowOf(provider: string): OAuthFlow | null
  /** Returns true when the vendor refused the account's refresh token. */
  needsSignIn(connection: Connection): boolean
}

declare module '../../core/types/plugin/plugin.ts' {
  interface Services {
    oauthAccounts: OAuthAccountService
  }
}
