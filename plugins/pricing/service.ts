// Prices as other plugins see them. Everything is nano-USD per 1M units, so that a cost is
// `ceil(units * price / 1e6)` whatever is counted.
import type { ModelPrice } from '../../core/types/prices.ts'

export type PriceSource = 'override' | 'primary' | 'fallback' | 'builtin' | 'none'

export interface ResolvedPrice {
  readonly provider: string
  readonly model: string
  readonly source: PriceSource
  /** Reference on usage rows: `override`, `primary:<run>`, `fallback:<run>`, `builtin`; null with source `none`. */
  readonly ref: string | null
  /** The rate card's version, as it was recorded when the card was fetched; null where prices are of no card. */
  readonly version: string | null
  /** The pattern of the override, or the model string under which the card has it. */
  readonly matchedKey: string | null
  /** When the card was fetched, epoch ms. */
  readonly fetchedAt: number | null
  /** Since when the card has not had one of these prices any more. */
  readonly staleSince: number | null
  /** undefined: no token price is known. */
  readonly price: ModelPrice | undefined
}

/** Absent: not known. */
export interface MediaPrices {
  perImage?: number
  perSecond?: number
  perCharacter?: number
  perQuery?: number
  perPage?: number
}

export interface MediaWish {
  /** `1024x1024`. */
  size?: string
  quality?: string
}

/** Read from memory. `orgId`: whose overrides hold, over the operator's own. */
export interface RateCardService {
  resolve(provider: string, model: string, orgId?: number | null): ResolvedPrice
  media(
    provider: string,
    model: string,
    wish?: MediaWish,
    orgId?: number | null,
  ): MediaPrices & Pick<ResolvedPrice, 'source' | 'ref'>
}

/** How fresh the prices are, for /healthz. */
export interface PricingStatus {
  /** null: no sync was tried yet. */
  summary(): { ok: boolean; last_success_at: string | null } | null
}

declare module '../../core/types/plugin.ts' {
  interface Services {
    rateCard: RateCardService
    pricingStatus: PricingStatus
  }
  interface EventMap {
    /** A sync changed prices by more than PRICING_SYNC_DRIFT_PCT; inside the gateway only. */
    'pricing.drift_detected': { run_id: number; drifted: number }
  }
}
