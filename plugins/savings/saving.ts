// One thing a request saved by, before it is a receipt.
import type { Method } from './service.ts'

/** The price it was computed with, so that anyone can do so again. USD per 1M tokens; null: not known. */
export interface PriceRef {
  readonly source: string | null
  readonly ref: string
  readonly input_per_1m: number | null
  readonly output_per_1m: number | null
  readonly cache_read_per_1m: number | null
  readonly cache_write_per_1m: number | null
}

export interface Saving {
  readonly source: string
  readonly method: Method
  readonly provider: string | null
  readonly model: string | null
  /** `source` of the usage row it belongs to. */
  readonly usageSource: string
  readonly tokensBefore: number
  readonly tokensAfter: number
  /** Nano-USD, whole. */
  readonly usdSavedNano: number
  /** null: no price is known, and the amount is 0. */
  readonly priceRef: PriceRef | null
  readonly details: Readonly<Record<string, unknown>>
}
