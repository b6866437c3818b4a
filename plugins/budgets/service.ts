// Budgets as other plugins see them.

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
  /** Row of the key or virtual model; null for an organization's, and where the file names it: `entityLabel` says which. */
  readonly entityId: number | null
  /** Name of the virtual model, label of the key; null for an organization's. */
  readonly entityLabel: string | null
  readonly window: BudgetWindow
  readonly hardLimitNano: number
  readonly enabled: boolean
  /** Also those that have ended: the limit is computed when it is asked for. */
  readonly increases: readonly BudgetIncrease[]
  readonly managedBy: 'config' | 'api'
  readonly configKey: string | null
  readonly createdAt: number
  readonly updatedAt: number
}

/** Living ones, disabled ones too; read from memory. */
export interface BudgetService {
  /** By id. */
  list(orgId: number | null): readonly Budget[]
  get(orgId: number | null, id: number): Budget | null
}

declare module '../../core/types/plugin.ts' {
  interface Services {
    budgets: BudgetService
  }
}
