// The service `quota`: read quotas, and add usage drivers for vendors.
import type { DirectAnswer } from '../../core/services.ts'
import type { Connection } from '../../core/types/provider.ts'

export interface QuotaWindow {
  /** `5h`, `7d`, `requests`, `tokens-minute`: as the vendor calls it. */
  readonly name: string
  readonly unit: 'percent' | 'requests' | 'tokens' | 'usd'
  /** Glob over bare model ids it holds for; null: every model. */
  readonly model: string | null
  readonly used: number | null
  readonly limit: number | null
  readonly remaining: number | null
  /** Epoch ms. */
  readonly resetsAt: number | null
  /** No quota is left, for longer than a rate limit lasts. */
  readonly exhausted: boolean
}

export interface QuotaReading {
  /** As the vendor calls it: `free`, `max`. */
  readonly plan: string | null
  readonly windows: readonly QuotaWindow[]
}

/** Asks one vendor's documented usage API. */
export interface QuotaDriver {
  /** Id in the registry. */
  readonly provider: string
  /**
   * @param get GET of a path below the connection's address, with its credential: `/key`. Rejects unless it is 2xx.
   * @throws Error when the answer cannot be understood.
   */
  read(get: (path: string) => Promise<DirectAnswer>, connection: Connection): Promise<QuotaReading>
}

export interface QuotaService {
  /** Returns what takes it back: for the plugin's teardown. */
  driver(driver: QuotaDriver): () => void
  /** Whether the vendor has a usage API with a driver. */
  hasDriver(provider: string): boolean
  /** Epoch ms until which nothing is left of this model on this account; null: there is. */
  exhaustedUntil(connection: Connection, model: string): number | null
  /** Remaining fraction of the tightest window for this model on this account, 0 to 1, as this process last saw it; null: unknown. */
  remainingFraction(connection: Connection, model: string): number | null
}

interface QuotaExhausted {
  readonly provider: string
  readonly account_id: string
  /** RFC 3339 UTC. */
  readonly occurred_at: string
}

declare module '../../core/types/plugin.ts' {
  interface Services {
    quota: QuotaService
  }
  interface EventMap {
    'account.quota_exhausted': QuotaExhausted
  }
}
