// Types of the price services. All prices are nano-USD per 1M units, so that a cost is always `ceil(units * price / 1e6)`.
import type { ModelPrice } from '../../core/types/ports/prices.ts'

export type PriceSource = 'override' | 'primary' | 'fallback' | 'builtin' | 'none'

export interface ResolvedPrice {
  readonly provider: string
  readonly model: string
  readonly source: PriceSource
  /** The reference in usage rows: `override`, `primary:<run>`, `fallback:<run>`, `builtin`; null with source `none`. */
  readonly ref: string | null
  /** The rate card's version, recorded when the card was fetched; null for prices that are not from a card. */
  readonly version: string | null
  /** The override's pattern, or the card's name for the model. */
  readonly matchedKey: string | null
  /** Epoch ms at which the card was fetched. */
  readonly fetchedAt: number | null
  /** Epoch ms since when the card no longer has one of these prices. */
  readonly staleSince: number | null
  /** undefined: no token price is known. */
  readonly price: ModelPrice | undefined
}

/** Absent: unknown. */
export interface MediaPrices {
  perImage?: number
  perSecond?: number
  perCharacter?: number
  perQuery?: number
  perPage?: number
}

export interface MediaWish {
  /** For example `1024x1024`. */
  size?: string
  quality?: string
}

/** Reads from memory. `orgId`: the organization whose overrides apply, before the operator's own. */
export interface RateCardService {
  resolve(provider: string, model: string, orgId?: number | null): ResolvedPrice
  media(
    provider: string,
    model: string,
    wish?: MediaWish,
    orgId?: number | null,
  ): MediaPrices & Pick<ResolvedPrice, 'source' | 'ref'>
}

/** The freshness of prices, for /healthz. */
export interface PricingStatus {
  /** null: there was no sync yet. */
  summary(): { ok: boolean; last_success_at: string | null } | null
}

declare module '../../core/types/plugin/plugin.ts' {
  interface Services {
    rateCard: RateCardService
    pricingStatus: PricingStatus
  }
  interface EventMap {
    /** A sync changed prices by more than PRICING_SYNC_DRIFT_PCT. The event stays inside the gateway. */
    'pricing.drift_detected': { run_id: number; drifted: number }
  }
}
