// Types of the parts that a plugin offers before any plugin is set up: core needs them to read connections and secrets.

import type { KeyValueStore } from '../ports/ports.ts'
import type { Provider } from '../ports/provider.ts'
import type { Awaitable } from '../request/canonical.ts'
import type { DialectDriver } from '../request/dialect.ts'

/** Returns the secret of this name. It runs at each boot and reload, once for each name. */
export type SecretResolver = (name: string) => Awaitable<string>

/** An open key-value store; `close` runs when the gateway closes. */
export interface OpenStorage {
  readonly store: KeyValueStore
  close?(): Awaitable<void>
}

/** Opens the store at an address. It runs once, at the start. */
export type StorageDriver = (url: string) => Awaitable<OpenStorage>

export interface Offers {
  /** Connections name them by id or alias. An id or alias of hookgate or of another plugin refuses the boot. */
  readonly providers?: readonly Provider[]
  /** Wire formats. The names of hookgate and of other plugins are taken. */
  readonly dialects?: readonly DialectDriver[]
  /** By scheme: `secret.from('vault', 'llm/key')` asks the resolver `vault`. */
  readonly secrets?: Readonly<Record<string, SecretResolver>>
  /** By URL scheme: GATEWAY_STORAGE_URL=`memo://…` asks the driver `memo`. */
  readonly storage?: Readonly<Record<string, StorageDriver>>
}
