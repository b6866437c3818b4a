// Types of the services `accounts` and `vendorModels`, which other plugins read and extend.

import type { Db } from '../../core/types/ports/db.ts'
import type { Connection } from '../../core/types/ports/provider.ts'
import type { Awaitable } from '../../core/types/request/canonical.ts'

export interface Account {
  readonly connection: Connection
  /** Its name in `connections` of the configuration file; null: the API created it. */
  readonly name: string | null
  readonly orgId: number | null
  /** False: configured but not used. */
  readonly enabled: boolean
  /** Labels; `free_pool: true` shares a connection of the gateway's own organization. */
  readonly metadata: Readonly<Record<string, unknown>>
  /** `api_key`, `oauth`. */
  readonly authType: string
  /** Epoch ms. */
  readonly createdAt: number
}

export interface AccountExtension {
  /** Additional members of the record's `state`, such as `status`; they override existing ones. */
  state?(connection: Connection): Readonly<Record<string, unknown>>
  /** Returns a bare model id to test a connection with, when the connection names none itself. */
  testModel?(connection: Connection): string | null
}

/** A connection that a sign-in makes. */
export interface SignedInAccount {
  readonly orgId: number | null
  readonly provider: string
  readonly label: string
  readonly baseUrl: string | null
  readonly wireFormat: Connection['wireFormat']
}

/** The plugin that signs in to accounts: their credentials are not stored with the connections. */
export interface CredentialSource {
  /** Returns the access token, or a promise while it is renewed. Rejects with a GatewayError of the upstream. */
  credentialOf(connection: Connection): Awaitable<string | null>
}

export interface AccountService {
  /** Takes over the credentials of all accounts with a sign-in. Returns a function that ends it, for the plugin's teardown. */
  signIns(source: CredentialSource): () => void
  /**
   * Makes a connection with a sign-in, and runs `store` with its id in the same transaction. Returns the id.
   * @throws GatewayError 400 when the provider needs an address that is not given
   */
  signedIn(account: SignedInAccount, store: (db: Db, id: number) => Promise<void>): Promise<number>
  /** Removes a connection with a sign-in, and runs `store` in the same transaction. */
  signedOut(orgId: number | null, id: number, store: (db: Db) => Promise<void>): Promise<void>
  /** Reads what other processes changed now instead of at the next poll. Never rejects. */
  refresh(): Promise<void>
  /** Every connection, also disabled ones, by priority. The list stays the same object until one changes. */
  list(): readonly Account[]
  /** Returns the connection with this name in the configuration file; undefined when there is none. It may be disabled. */
  named(name: string): Account | undefined
  /** Returns a function that removes it, for the plugin's teardown. */
  extend(extension: AccountExtension): () => void
}

/** A provider's own model list. */
export interface VendorModelService {
  /** Returns bare model ids; empty for a provider without an upstream. @throws GatewayError when the request fails. */
  list(connection: Connection): Promise<readonly string[]>
}

/** A part of an account's state is another one. The event stays inside the gateway. */
export interface AccountStateChanged {
  readonly kind: 'breaker' | 'cooldown' | 'quota' | 'credential'
  readonly account_id: string
  readonly provider: string
  /** For example `open`, `closed`; `cooling`, `ended`; `exhausted`, `available`; `refused`, `accepted`. */
  readonly state: string
  /** Epoch ms; null: no time is known. */
  readonly until: number | null
}

declare module '../../core/types/plugin/plugin.ts' {
  interface EventMap {
    'account.state_changed': AccountStateChanged
  }
  interface Services {
    accounts: AccountService
    vendorModels: VendorModelService
  }
}
