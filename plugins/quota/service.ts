// Types of the service `quota`: reads quotas, and adds usage drivers for vendors.
import type { DirectAnswer } from '../../core/services.ts'
import type { Connection } from '../../core/types/ports/provider.ts'

export interface QuotaWindow {
  /** The vendor's name: `5h`, `7d`, `requests`, `tokens-minute`. */
  readonly name: string
  readonly unit: 'percent' | 'requests' | 'tokens' | 'usd'
  /** Glob over bare model ids that it applies to; null: every model. */
  readonly model: string | null
  readonly used: number | null
  readonly limit: number | null
  readonly remaining: number | null
  /** Epoch ms. */
  readonly resetsAt: number | null
  /** No quota remains, for longer than a rate limit lasts. */
  readonly exhausted: boolean
}

export interface QuotaReading {
  /** The vendor's name: `free`, `max`. */
  readonly plan: string | null
  readonly windows: readonly QuotaWindow[]
}

/** Queries one vendor's documented usage API. */
export interface QuotaDriver {
  /** Provider id in the registry. */
  readonly provider: string
  /**
   * @param get sends a GET to a path below the connection's address, with its credential: `/key`. Rejects for any status except 2xx.
   * @throws Error when the answer is unreadable.
   */
  read(get: (path: string) => Promise<DirectAnswer>, connection: Connection): Promise<QuotaReading>
}

export interface QuotaService {
  /** Adds a driver. Returns a function that removes it, for the plugin's teardown. */
  driver(driver: QuotaDriver): () => void
  /** Returns whether a driver exists for the vendor's usage API. */
  hasDriver(provider: string): boolean
  /** Returns the epoch ms until which this account has no quota for the model; null: quota remains. */
  exhaustedUntil(connection: Connection, model: string): number | null
  /** Returns the epoch ms until which a rate limit of the account or the model is used up; null: something remains, or nothing is known. */
  rateResetsAt(connection: Connection, model: string): number | null
  /**
   * Returns the remaining fraction of the tightest window for this model on this account, 0 to 1, as this process last saw it; null:
   * unknown.
   */
  remainingFraction(connection: Connection, model: string): number | null
}

interface QuotaExhausted {
  readonly provider: string
  readonly account_id: string
  /** RFC 3339 UTC. */
  readonly occurred_at: string
}

declare module '../../core/types/plugin/plugin.ts' {
  interface Services {
    quota: QuotaService
  }
  interface EventMap {
    'account.quota_exhausted': QuotaExhausted
  }
}
