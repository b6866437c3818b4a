// Types of the service `ledger`: accounts with reservations, and one usage row per upstream step.

import type { Db } from '../../core/types/ports/db.ts'
import type { RequestContext } from '../../core/types/request/context.ts'

/** Spent and reserved amounts of one name in one window. */
export interface Account {
  /** `budget:12`, `session:0:5:abc`: the plugin that owns the prefix defines the name. */
  readonly name: string
  /** Epoch ms; 0 without a window. */
  readonly windowStart: number
}

/** The unit that an account counts. `shared_tokens`: prompt and completion tokens of calls that shared connections answered. */
export type Measure = 'charge' | 'shared_tokens'

/** A reservation on an account until the request is settled. */
export interface Hold extends Account {
  /** Default `charge`. With another measure the amounts are in its unit instead of nano-USD. */
  readonly measure?: Measure
  readonly amountNano: number
  /** The request is refused when this amount is spent, or when spent, reserved and this reservation together exceed it. */
  readonly limitNano: number
  /** The account is deleted after this time without use. */
  readonly idleMs?: number
  refuse(): Error | Promise<Error>
}

/** Windows of one account: `from` inclusive, `until` exclusive. */
export interface AccountRange {
  readonly name: string
  readonly from: number
  readonly until: number
}

/** A limit over the windows of accounts together, such as a rolling window of buckets. It is checked with the reservations. */
export interface Cap {
  /** Requests with the same lock are checked one after the other, on all replicas. */
  readonly lock: string
  /** At most two. */
  readonly over: readonly AccountRange[]
  readonly amount: number
  /** The request is refused when spent and reserved reach it, or would exceed it with `amount`. */
  readonly limit: number
  refuse(): Error | Promise<Error>
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
   * Call it in an `admit` hook. All reservations of a request are taken, or none; the first that does not fit refuses it.
   * @param unavailable called when the database does not answer: return to let the request continue without reservations, throw to refuse
   * it.
   * @param caps checked before the reservations are taken.
   * @throws Error when this request's reservation is already written.
   */
  hold(ctx: RequestContext, holds: readonly Hold[], unavailable: (error: Error) => void, caps?: readonly Cap[]): void
  /**
   * Call it in a `settle` hook with order `pre` or `normal`: books the request to further accounts, without a reservation.
   * @throws Error when the request is already booked.
   */
  charge(ctx: RequestContext, accounts: readonly Account[]): void
  /** Called after each settlement that reached the database, with its accounts. Returns a function that unsubscribes. */
  onBooked(fn: (accounts: readonly Account[], requestId: string) => void): () => void
  /** Returns balances of existing accounts; an unused account has none. */
  balances(db: Db, accounts: readonly Account[]): Promise<Balance[]>
  /** Returns the names of existing accounts with this prefix. */
  names(db: Db, prefix: string): Promise<string[]>
  /** Deletes accounts with their sums, for something that is gone. */
  drop(db: Db, names: readonly string[]): Promise<void>
  /** Returns balances of all windows from `since` on whose name has this prefix. */
  balancesOf(db: Db, prefix: string, since: number): Promise<Balance[]>
  /** Returns the sum of what is spent and reserved in the ranges. */
  sum(db: Db, over: readonly AccountRange[]): Promise<number>
  /** Deletes windows before `before` of the accounts with this prefix, unless a request reserves in them. */
  forget(db: Db, prefix: string, before: number): Promise<void>
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
  /** `api`, or the name that an internal call was made under; a step has its own: `fusion`. */
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
  /** True when the gateway estimated, because the upstream reported nothing. */
  readonly estimated: boolean
  /** null: no price is known. */
  readonly costNano: number | null
  readonly chargeNano: number | null
  readonly priceRef: string | null
  readonly cached: 'exact' | 'semantic' | null
  readonly freePool: boolean
  /** True when the serving process ended before it settled the request. */
  readonly interrupted: boolean
}

export interface UsageTokens {
  readonly input: number
  readonly cacheRead: number
  readonly cacheWrite: number
  readonly output: number
  readonly reasoning: number
}

/** Half open, epoch ms. `orgId` undefined: all organizations. */
export interface UsageFilter {
  readonly since: number
  readonly until: number
  readonly orgId?: number | null
  readonly keyId?: number
  readonly virtualModel?: string
}

/** Columns to sum rows by; `day` and `month` in UTC: `2026-11-21`, `2026-11`. */
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
  /** In the requested order; null = none. */
  readonly group: readonly (string | null)[]
  /** The same values as stored, to query other data by these groups. */
  readonly stored: readonly string[]
  /** Number of first steps: counts each request once. */
  readonly requests: number
  readonly errors: number
  readonly tokens: UsageTokens
  readonly costNano: number
  readonly chargeNano: number
  readonly mediaUnits: number
  /** The part that the gateway estimated, because the upstream reported nothing. */
  readonly estimated: EstimatedSum
  /** The part of `requests` that was interrupted. */
  readonly interrupted: number
}

export interface EstimatedSum {
  /** Input and output together. */
  readonly tokens: number
  readonly costNano: number
  readonly chargeNano: number
}

export interface UsageReader {
  /**
   * Passes the newest rows to `each`, newest first, at most `cap`. Reads a few thousand at a time, so that requests continue in between.
   */
  newest(filter: UsageFilter, cap: number, each: (row: UsageRow) => void): Promise<{ truncated: boolean }>
  /** Yields exact sums from the database in the order of the groups, page by page, so that memory stays limited. */
  sums(filter: UsageFilter, by: readonly UsageGroup[]): AsyncIterable<UsageSum>
  /** Returns the sum of the filter's rows, without replays, for budgets; call it inside a transaction with its `db`. */
  charged(db: Db, filter: UsageFilter): Promise<Charged>
}

declare module '../../core/types/plugin/plugin.ts' {
  interface Services {
    ledger: LedgerService
  }
}
