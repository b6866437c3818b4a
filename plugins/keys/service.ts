// The service `keys`: what other plugins can read of a client key.
import type { RequestContext } from '../../core/types/context.ts'

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
}

export interface KeyService {
  /** The key a request came with; null for anonymous and internal ones. */
  of(ctx: RequestContext): ClientKey | null
  /** A presented secret → its key, also an expired one; null when it is not a key, or is revoked. */
  find(secret: string): ClientKey | null
  expired(key: ClientKey): boolean
  /** Living ones, expired ones too. */
  get(orgId: number | null, id: number): ClientKey | null
  /** The oldest key with this label. */
  labelled(orgId: number | null, label: string): ClientKey | null
  /** Runs before the secret of a new key is returned. When it rejects, the key is not created. Returns the function that unregisters it. */
  onCreated(fn: (key: ClientKey) => Promise<void>): () => void
}

declare module '../../core/types/plugin.ts' {
  interface Services {
    keys: KeyService
  }
}
