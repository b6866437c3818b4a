// The form of our own facts on models that chat: what the rate card lacks, or has wrong. A fact is here when the vendor's
// documentation says it without doubt.
import type { TokenPrices } from '../../../core/types/prices.ts'
import type { Capability, ModelMode } from '../service.ts'

export interface FactRow {
  /** Glob over the bare model id, lower case. Later rows add to earlier ones and win. */
  match: string
  /** null: not known after all, whatever others say. */
  contextWindow?: number | null
  maxOutputTokens?: number | null
  mode?: ModelMode
  capabilities?: Partial<Record<Capability, boolean>>
  price?: TokenPrices | null
}

export interface ProviderFacts {
  /** Vendor documentation the rows were taken from, and when. */
  source: string
  asOf: string
  rows: readonly FactRow[]
  /** Offered although no rate card lists them. */
  listed?: readonly string[]
  /** Globs over ids of the rate card that its vendor's API does not serve (any more). */
  unlisted?: readonly string[]
}
