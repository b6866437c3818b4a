// What other plugins may know of connections, and what they may say about them.
import type { Connection } from '../../core/types/provider.ts'

export interface Account {
  readonly connection: Connection
  readonly orgId: number | null
  /** False: configured, and not used. */
  readonly enabled: boolean
  /** `api_key`, `oauth`. */
  readonly authType: string
  /** Epoch ms. */
  readonly createdAt: number
}

export interface AccountExtension {
  /** Members of the record's `state`, over those that are there; `status` among them. */
  state?(connection: Connection): Readonly<Record<string, unknown>>
  /** A bare model id to test a connection with that names none itself. */
  testModel?(connection: Connection): string | null
}

export interface AccountService {
  /** Every connection, disabled ones too, by priority. The same list until one changes. */
  list(): readonly Account[]
  /** Returns what takes it back: for the plugin's teardown. */
  extend(extension: AccountExtension): () => void
}

/** What a provider says itself that it has. */
export interface VendorModelService {
  /** Bare model ids; none of a provider that has nobody to ask. @throws GatewayError when there is no such answer. */
  list(connection: Connection): Promise<readonly string[]>
}

declare module '../../core/types/plugin.ts' {
  interface Services {
    accounts: AccountService
    vendorModels: VendorModelService
  }
}
