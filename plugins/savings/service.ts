// The savings ledger as other plugins see it: they claim what they saved, and ask for sums.
import type { RequestContext } from '../../core/types/context.ts'

/** Sources of the gateway's own plugins. Other plugins use their own names. */
export const SOURCES = ['token_filter', 'exact_cache', 'semantic_cache', 'prompt_cache', 'routing', 'free_pool'] as const

/** `measured`: the provider's own count. `tokenizer`: ours. `counterfactual`: what another choice would have cost. */
export const METHODS = ['measured', 'tokenizer', 'counterfactual'] as const
export type Method = (typeof METHODS)[number]

export interface Claim {
  /** One of `SOURCES`, or lower-case letters, digits and underscores, at most 40. */
  readonly source: string
  readonly method: Method
  /** Tokens of the whole text before the change. */
  readonly tokensBefore: number
  readonly tokensAfter: number
  /** Nano-USD, whole, may be negative. Default: the tokens at the input price of the model that answered. */
  readonly usdSavedNano?: number
  /** Evidence for a reviewer, without text of a prompt or an answer. At most 4 KiB of JSON; larger details are dropped. */
  readonly details?: Readonly<Record<string, unknown>>
}

/** Columns of usage rows that savings can be summed by. */
export type SavingsGroup =
  | 'org'
  | 'key'
  | 'cost_center'
  | 'user'
  | 'provider'
  | 'model'
  | 'virtual_model'
  | 'day'
  | 'month'
  | 'source'

/** Half open, epoch ms, by the start of the request. `orgId` undefined: of all. */
export interface SavingsFilter {
  readonly since: number
  readonly until: number
  readonly orgId?: number | null
}

export interface SavingsService {
  /**
   * Before the request is settled. Booked with it when an upstream was asked for it, that of an internal call with its parent; a
   * later claim of the same source takes the place of the earlier one.
   * @throws TypeError for tokens that are no whole numbers from 0 on, and for a source of another shape.
   */
  claim(ctx: RequestContext, claim: Claim): void
  /** Nano-USD. */
  total(filter: SavingsFilter): Promise<number>
  /** Nano-USD of each group, named as the ledger's `UsageSum.stored` names it; at most 2,000 at a time. */
  totalsOf(filter: SavingsFilter, by: readonly SavingsGroup[], groups: readonly (readonly string[])[]): Promise<number[]>
}

declare module '../../core/types/plugin.ts' {
  interface Services {
    savings: SavingsService
  }
}
