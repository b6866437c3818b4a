// Types of the service `accountState`: reads and changes the state of accounts.
import type { SkipReason } from '../../core/types/error.ts'
import type { Connection } from '../../core/types/ports/provider.ts'

export type AccountStatus = 'active' | 'cooldown' | 'circuit_open' | 'quota_exhausted' | 'auth_failed'

/** State of an account as the API shows it; times in RFC 3339 UTC. */
export interface AccountStateRecord {
  readonly status: AccountStatus
  readonly cooldown_until: string | null
  readonly cooldown_source: 'retry_after' | 'circuit_breaker' | null
  readonly consecutive_failures: number
  readonly breaker: 'closed' | 'open' | 'half_open'
  readonly model_locks: readonly { readonly model: string; readonly until: string; readonly reason: string }[]
  readonly quota_exhausted: boolean
  readonly quota_resets_at: string | null
  readonly inflight: number
  readonly last_error: { readonly status: number; readonly message: string; readonly at: string } | null
  readonly last_used_at: string | null
}

export interface AccountStateService {
  of(connection: Connection): AccountStateRecord
  /** The reason why the router skips the account for this model now; `until` in epoch ms. */
  blocked(connection: Connection, model: string): { readonly reason: SkipReason; readonly until: number | null } | null
  /**
   * Takes an in-flight slot for a call outside the pipeline, and returns the function that frees it: call it once. A replay may fill half
   * of the slots. @throws GatewayError with skip `at_capacity`
   */
  slot(connection: Connection, source: string): Promise<() => void>
  /** Removes cooldown, locks, quota, circuit and a refused credential, for a connection with a new key. */
  clear(connectionId: string): void
  /** Ends the locks of one model (`*`: the lock of all models), or every lock. Returns how many. */
  clearLocks(connectionId: string, model?: string): number
}

/** Lists models for the prober. The plugin that requests model lists provides it. */
export interface ModelListProbe {
  /**
   * GET of the provider's model list over this connection: its key, address, headers and proxy. The call is not booked. Resolves with the
   * upstream's status; rejects with a GatewayError without one.
   */
  status(connection: Connection, signal: AbortSignal): Promise<number>
}

/** Renews credentials of accounts. The plugin that owns such accounts provides it. */
export interface CredentialService {
  /** Resolves to true when there is a new credential. It never runs twice at once for one account; a failure is logged. */
  renew(connection: Connection): Promise<boolean>
}

declare module '../../core/types/plugin/plugin.ts' {
  interface Services {
    accountState: AccountStateService
    modelListProbe: ModelListProbe
    credentials: CredentialService
  }
}
