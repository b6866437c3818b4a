// Types of the services `budgets` and `estimates`.
import type { CanonicalRequest, Frozen } from '../../core/types/request/canonical.ts'
import type { RequestContext } from '../../core/types/request/context.ts'

export const SCOPES = ['org', 'virtual_model', 'key'] as const
export type BudgetScope = (typeof SCOPES)[number]

export const WINDOWS = ['hourly', 'daily', 'weekly', 'monthly', 'yearly', 'lifetime'] as const
export type BudgetWindow = (typeof WINDOWS)[number]

export interface BudgetIncrease {
  readonly id: number
  readonly amountNano: number
  readonly reason: string | null
  /** Epoch ms. */
  readonly expiresAt: number
  readonly createdAt: number
  readonly createdBy: string
}

export interface Budget {
  readonly id: number
  readonly orgId: number | null
  readonly scope: BudgetScope
  /** Row of the key or virtual model; null for an organization, and when the file names it in `entityLabel`. */
  readonly entityId: number | null
  /** Name of the virtual model, label of the key; null for an organization. */
  readonly entityLabel: string | null
  readonly window: BudgetWindow
  readonly hardLimitNano: number
  readonly enabled: boolean
  /** Includes ended ones: the limit is computed on each use. */
  readonly increases: readonly BudgetIncrease[]
  readonly managedBy: 'config' | 'api'
  readonly configKey: string | null
  readonly createdAt: number
  readonly updatedAt: number
}

/** An upper limit of the tokens that a request can use. */
export interface TokenEstimate {
  /** Prompt and answer together. */
  readonly tokens: number
  readonly promptTokens: number
  /** True when the caller limited the answer. */
  readonly explicit: boolean
}

/** Estimates a request before it is sent. */
export interface EstimateService {
  /**
   * Call it in an `admit` hook, which has the plan. @throws GatewayError 400 for a prompt of unknown size, where
   * `budgets.unknownPrompt` refuses it.
   */
  tokens(ctx: RequestContext): TokenEstimate
  /** Returns an upper limit of the cost of one call that a plugin makes for an organization, nano-USD; 0 when no price is known. */
  ownCall(
    orgId: number | null,
    call: { readonly provider: string; readonly model: string },
    request: Frozen<CanonicalRequest>,
  ): number
}

/** Active budgets, also disabled ones, read from memory. */
export interface BudgetService {
  /** Sorted by id. */
  list(orgId: number | null): readonly Budget[]
  get(orgId: number | null, id: number): Budget | null
}

declare module '../../core/types/plugin/plugin.ts' {
  interface Services {
    budgets: BudgetService
    estimates: EstimateService
  }
}
