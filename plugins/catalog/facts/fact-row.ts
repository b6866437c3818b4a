// Types of the gateway's own facts about chat models: data that the rate card lacks or has wrong. A fact is listed only when the vendor's
// documentation states it clearly.
import type { TokenPrices } from '../../../core/types/ports/prices.ts'
import type { Capability, ModelMode } from '../service.ts'

export interface FactRow {
  /** Glob over the bare model id in lower case. Later rows override earlier ones. */
  match: string
  /** null: unknown, whatever other sources state. */
  contextWindow?: number | null
  maxOutputTokens?: number | null
  mode?: ModelMode
  capabilities?: Partial<Record<Capability, boolean>>
  price?: TokenPrices | null
}

export interface ProviderFacts {
  /** The vendor documentation of the rows, with its date. */
  source: string
  asOf: string
  rows: readonly FactRow[]
  /** Offered models that no rate card lists. */
  listed?: readonly string[]
  /** Globs over ids of the rate card that the vendor's API does not serve, or no longer serves. */
  unlisted?: readonly string[]
}
