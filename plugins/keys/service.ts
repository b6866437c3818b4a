// Types of the service `keys`: the parts of a client key that other plugins read.
import type { RequestContext } from '../../core/types/request/context.ts'

export interface ClientKey {
  readonly id: number
  readonly orgId: number | null
  readonly label: string
  /** The last four characters of the secret. */
  readonly last4: string
  /** Globs over the model string as sent; empty = every model. */
  readonly allowedModels: readonly string[]
  /** Per minute; null = the gateway's default. */
  readonly rateLimitRpm: number | null
  readonly rateLimitTpm: number | null
  readonly costCenter: string | null
  readonly sessionBudgetNano: number | null
  /** Epoch ms. */
  readonly expiresAt: number | null
  /** Guardrails skip requests with this key. */
  readonly guardrailsExempt: boolean
  /** Shadow evaluation samples no request with this key. */
  readonly shadowOptOut: boolean
  /** The person who made it; null: a token, the command line or the configuration file. */
  readonly createdBy: number | null
  /** Epoch ms. */
  readonly createdAt: number
}

export interface KeyService {
  /** Returns the key of a request; null for anonymous and internal ones. */
  of(ctx: RequestContext): ClientKey | null
  /** Returns the key of a presented secret, also an expired one; null when it is not a key, or is revoked. */
  find(secret: string): ClientKey | null
  expired(key: ClientKey): boolean
  /** Returns an active key, also an expired one. */
  get(orgId: number | null, id: number): ClientKey | null
  /** Returns the active keys of an organization, also expired ones, the oldest first. */
  list(orgId: number | null): readonly ClientKey[]
  /** Returns the oldest key with this label. */
  labelled(orgId: number | null, label: string): ClientKey | null
  /** Runs before the secret of a new key is returned. When it rejects, the key is not created. Returns the function that unregisters it. */
  onCreated(fn: (key: ClientKey) => Promise<void>): () => void
}

declare module '../../core/types/plugin/plugin.ts' {
  interface Services {
    keys: KeyService
  }
}
