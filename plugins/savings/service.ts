// Types of the service `savings`: plugins claim savings and read sums.
import type { RequestContext } from '../../core/types/request/context.ts'

/** Sources of the gateway's own plugins. Other plugins use their own names. */
export const SOURCES = ['token_filter', 'exact_cache', 'semantic_cache', 'prompt_cache', 'routing', 'free_pool'] as const

/** `measured`: the provider's own count. `tokenizer`: the gateway's count. `counterfactual`: the cost of another choice. */
export const METHODS = ['measured', 'tokenizer', 'counterfactual'] as const
export type Method = (typeof METHODS)[number]

export interface Claim {
  /** One of `SOURCES`, or at most 40 lower-case letters, digits and underscores. */
  readonly source: string
  readonly method: Method
  /** Tokens of the whole text before the change. */
  readonly tokensBefore: number
  readonly tokensAfter: number
  /** Whole nano-USD, may be negative. Default: the tokens at the input price of the model that answered. */
  readonly usdSavedNano?: number
  /** Evidence for a reviewer, without text of a prompt or an answer. At most 4 KiB of JSON; larger details are dropped. */
  readonly details?: Readonly<Record<string, unknown>>
}

/** Columns of usage rows to sum savings by. */
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

/** Half open, epoch ms, by the start of the request. `orgId` undefined: all organizations. */
export interface SavingsFilter {
  readonly since: number
  readonly until: number
  readonly orgId?: number | null
}

export interface SavingsService {
  /**
   * Call it before the request is settled. The claim is booked when an upstream was called; that of an internal call is booked with its
   * parent. A later claim with the same source replaces the earlier one.
   * @throws TypeError for tokens that are not integers from 0 on, and for an invalid source.
   */
  claim(ctx: RequestContext, claim: Claim): void
  /** Returns nano-USD. */
  total(filter: SavingsFilter): Promise<number>
  /** Returns money and tokens, also of receipts that are not in the chain yet. */
  sum(filter: SavingsFilter): Promise<{ usdSavedNano: number; tokensSaved: number }>
  /** Returns nano-USD of each group, named as in the ledger's `UsageSum.stored`; at most 2,000 groups per call. */
  totalsOf(filter: SavingsFilter, by: readonly SavingsGroup[], groups: readonly (readonly string[])[]): Promise<number[]>
}

declare module '../../core/types/plugin/plugin.ts' {
  interface Services {
    savings: SavingsService
  }
}
