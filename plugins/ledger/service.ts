// The books as other plugins see them: accounts with holds, and one usage row per upstream step.
import type { RequestContext } from '../../core/types/context.ts'
import type { Db } from '../../core/types/db.ts'

/** Spent and reserved amounts of one name in one window. */
export interface Account {
  /** `budget:12`, `session:0:5:abc`: the prefix is its owner's. */
  readonly name: string
  /** Epoch ms; 0 for what has no window. */
  readonly windowStart: number
}

/** Kept back from an account until the request is settled. */
export interface Hold extends Account {
  readonly amountNano: number
  /** The request is refused when this much is spent, or when spent, reserved and this hold together pass it. */
  readonly limitNano: number
  /** Amounts of an account are deleted when it is unused for this long. */
  readonly idleMs?: number
  refuse(): Error
}

export interface Balance extends Account {
  readonly spentNano: number
  readonly reservedNano: number
  /** Number of requests booked to the account. */
  readonly requests: number
}

/** Sums of usage rows. */
export interface Charged {
  readonly nano: number
  readonly requests: number
}

export interface LedgerService {
  /**
   * Call it in an `admit` hook. All holds of a request are taken or none; the first that does not fit refuses it.
   * @param unavailable the database does not answer: return to let the request go on unreserved, throw to refuse it.
   * @throws Error when the reservation of this request is written already.
   */
  hold(ctx: RequestContext, holds: readonly Hold[], unavailable: (error: Error) => void): void
  /**
   * Call it in a `settle` hook of order `pre` or `normal`: books the request here too, where it was not held.
   * @throws Error when the request is booked already.
   */
  charge(ctx: RequestContext, accounts: readonly Account[]): void
  /** After each settlement that reached the database, with the accounts it booked to. Returns what takes it back. */
  onBooked(fn: (accounts: readonly Account[], requestId: string) => void): () => void
  /** Balances of existing accounts; an unused account has none. */
  balances(db: Db, accounts: readonly Account[]): Promise<Balance[]>
  /** Balances of all windows from `since` on whose name has this prefix. */
  balancesOf(db: Db, prefix: string, since: number): Promise<Balance[]>
  /** Sets the spent amount, and the number of requests when given. Reservations stay. */
  restate(db: Db, account: Account, spentNano: number, requests?: number): Promise<void>
  readonly usage: UsageReader
}

/** One upstream step, or a request that was answered or failed without one. */
export interface UsageRow {
  readonly requestId: string
  readonly step: number
  readonly orgId: number | null
  /** Start of the request, epoch ms. */
  readonly at: number
  readonly keyId: number | null
  readonly keyLabel: string | null
  readonly userId: string | null
  readonly sessionId: string | null
  readonly costCenter: string | null
  /** `api`, or who made an internal call; of a step its own: `fusion`. */
  readonly source: string
  readonly operation: string
  readonly provider: string | null
  readonly connectionId: string | null
  readonly model: string | null
  readonly requestedModel: string
  readonly virtualModel: string | null
  readonly stream: boolean
  readonly status: number
  readonly latencyMs: number
  readonly firstByteMs: number | null
  /** Inclusive totals, as in `Usage`. */
  readonly tokens: UsageTokens
  readonly mediaUnits: number
  /** The gateway counted, because the upstream did not say. */
  readonly estimated: boolean
  /** null: no price is known. */
  readonly costNano: number | null
  readonly chargeNano: number | null
  readonly priceRef: string | null
  readonly cached: 'exact' | 'semantic' | null
  readonly freePool: boolean
  /** The process that served it ended before it was settled. */
  readonly interrupted: boolean
}

export interface UsageTokens {
  readonly input: number
  readonly cacheRead: number
  readonly cacheWrite: number
  readonly output: number
  readonly reasoning: number
}

/** Half open, epoch ms. `orgId` undefined: of all. */
export interface UsageFilter {
  readonly since: number
  readonly until: number
  readonly orgId?: number | null
  readonly keyId?: number
  readonly virtualModel?: string
}

/** Columns that rows can be summed by; `day` and `month` in UTC: `2026-11-21`, `2026-11`. */
export const GROUPS = [
  'org',
  'key',
  'cost_center',
  'user',
  'provider',
  'model',
  'virtual_model',
  'day',
  'month',
  'source',
] as const
export type UsageGroup = (typeof GROUPS)[number]

export interface UsageSum {
  /** In the order asked for; null = none. */
  readonly group: readonly (string | null)[]
  /** The same as the columns hold it, to ask others for what they keep by these groups. */
  readonly stored: readonly string[]
  /** First steps: each request once. */
  readonly requests: number
  readonly errors: number
  readonly tokens: UsageTokens
  readonly costNano: number
  readonly chargeNano: number
  readonly mediaUnits: number
  /** The part that the gateway estimated because the upstream did not report it. */
  readonly estimated: EstimatedSum
  /** The part of `requests` that was interrupted. */
  readonly interrupted: number
}

export interface EstimatedSum {
  /** In and out. */
  readonly tokens: number
  readonly costNano: number
  readonly chargeNano: number
}

export interface UsageReader {
  /** The newest rows, newest first, at most `cap`; a few thousand at a time, so that requests go on in between. */
  newest(filter: UsageFilter, cap: number, each: (row: UsageRow) => void): Promise<{ truncated: boolean }>
  /** Exact, summed by the database, in the order of the groups; page by page, so that memory stays bounded. */
  sums(filter: UsageFilter, by: readonly UsageGroup[]): AsyncIterable<UsageSum>
  /** The sum of the filter's rows; call it inside a transaction with its `db`. */
  charged(db: Db, filter: UsageFilter): Promise<Charged>
}

declare module '../../core/types/plugin.ts' {
  interface Services {
    ledger: LedgerService
  }
}
