// One saving of a request, before it becomes a receipt.
import type { Method } from './service.ts'

/** The price of the computation, so that it can be repeated. USD per 1M tokens; null: unknown. */
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
  /** `source` of its usage row. */
  readonly usageSource: string
  readonly tokensBefore: number
  readonly tokensAfter: number
  /** Whole nano-USD. */
  readonly usdSavedNano: number
  /** null: no price is known, and the amount is 0. */
  readonly priceRef: PriceRef | null
  readonly details: Readonly<Record<string, unknown>>
}
