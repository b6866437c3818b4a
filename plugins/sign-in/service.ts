// Type of the service `signIn`.

import type { Operator } from '../../core/types/operator.ts'
import type { Throttle } from './throttle.ts'

/** The person and organization of a session. */
export interface Account {
  readonly userId: number
  /** null: the gateway's own organization, for system administrators. */
  readonly orgId: number | null
}

/** The plugin that knows people registers itself here, so that sign-in knows no tenants. */
export interface AccountSource {
  /**
   * Returns the rights of a session's account now, from memory; null: the account, its membership or this generation of its sessions
   * has ended.
   */
  operator(account: Account, generation: number, auth: 'password' | 'oidc'): Operator | null
  /** Sessions of an older generation are refused; a password reset increments it. */
  generation(userId: number): number
}

export interface IssuedSession {
  readonly token: string
  /** Epoch ms. */
  readonly expiresAt: number
}

export interface SignInService {
  /** True when a password is set or tenants can sign up: local callers then need a credential too. */
  readonly required: boolean
  readonly multiTenant: boolean
  /** True: the identity provider alone signs people in, password routes are 403. */
  readonly idpOnly: boolean
  /** Registers the account source. */
  accounts(source: AccountSource): void
  /** Issues a session of an account. `auth` is the way of signing in. */
  issue(account: Account, auth: 'password' | 'oidc'): Promise<IssuedSession>
  /** Counts failed attempts over all sign-in routes and replicas. */
  readonly attempts: Throttle
  readonly passwords: Passwords
}

/** Argon2id off the event loop, a few at once. */
export interface Passwords {
  /** Returns the PHC form. */
  hash(password: string): Promise<string>
  /** `phc` null: an unknown user. It costs the same time and returns false. */
  check(password: string, phc: string | null): Promise<boolean>
}

declare module '../../core/types/plugin.ts' {
  interface Services {
    signIn: SignInService
  }
}
