// Type of the service `signIn`.

import type { GatewayError } from '../../core/errors/gateway-error.ts'
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
  /** Returns the person's role in an organization now; null: no access. A token of that person never has more. */
  role(userId: number, orgId: number | null): Operator['role'] | null
  /** Returns what `GET /api/auth/me` shows of a caller. */
  profile(operator: Operator): Profile
}

/** The person behind a caller, the organization of the session, and those that the person may switch to. */
export interface Profile {
  readonly user: {
    readonly id: number
    readonly email: string
    readonly name: string | null
    readonly email_verified: boolean
    readonly role: string
  } | null
  readonly org: { readonly id: number; readonly name: string } | null
  readonly orgs: readonly { readonly id: number; readonly name: string; readonly role: Operator['role'] }[]
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
  /** Returns the address that attempts are counted under, from the forwarding headers; null when they hold none. */
  addressOf(headers: Headers): string | null
  /** Returns the 401 of the control plane. */
  refused(message: string): GatewayError
}

/** Argon2id off the event loop, a few at once. */
export interface Passwords {
  /** Returns the PHC form. */
  hash(password: string): Promise<string>
  /** `phc` null: an unknown user. It costs the same time and returns false. */
  check(password: string, phc: string | null): Promise<boolean>
}

declare module '../../core/types/plugin/plugin.ts' {
  interface Services {
    signIn: SignInService
  }
}
