// The service `connections`: what other plugins can read and extend.
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

/** A provider's own model list. */
export interface VendorModelService {
  /** Bare model ids; empty for a provider without an upstream. @throws GatewayError when the request fails. */
  list(connection: Connection): Promise<readonly string[]>
}

declare module '../../core/types/plugin.ts' {
  interface Services {
    accounts: AccountService
    vendorModels: VendorModelService
  }
}
