// Types of the advisor: recommendations, and the service that other plugins read them from.

export const KINDS = [
  'switch_model',
  'enable_exact_cache',
  'enable_semantic_cache',
  'enable_cache_injection',
  'enable_token_filters',
  'demote_target',
  'add_fallback',
  'unused_key',
  'budget_at_risk',
] as const
export type Kind = (typeof KINDS)[number]

/** A target as the API of virtual models takes it. */
export interface TargetParams {
  readonly target: string
  readonly weight: number
  readonly connection_id: number | null
  readonly enabled: boolean
  readonly instruction: string | null
  readonly params: Readonly<Record<string, unknown>> | null
}

export type ApplyAction =
  | {
      readonly type: 'update_virtual_model'
      readonly params: { readonly id: number; readonly name: string; readonly targets: readonly TargetParams[] }
    }
  | { readonly type: 'set_setting'; readonly params: { readonly key: string; readonly value: string | number | boolean } }

export interface Recommendation {
  /** `rec_` and a hash of organization, kind and subject: the same on every call and every replica. */
  readonly id: string
  readonly kind: Kind
  readonly title: string
  /** Says how the estimate was computed. */
  readonly detail: string
  /** Saving of 30 days, USD; 0 when the gain is not money. */
  readonly estMonthlyUsd: number
  /** 0 to 1. */
  readonly confidence: number
  /** Numbers to check it by hand; never text of a prompt or an answer. */
  readonly evidence: Readonly<Record<string, unknown>>
  readonly applyAction: ApplyAction | null
  readonly applyHint: string
}

/** A recommendation without its id; `subject` makes the id and is stable while the finding is the same. */
export interface Finding extends Omit<Recommendation, 'id'> {
  readonly subject: string
}

export interface AdvisorService {
  /** The largest saving first; at most 15 minutes old. */
  recommendations(orgId: number | null): Promise<readonly Recommendation[]>
}

declare module '../../core/types/plugin/plugin.ts' {
  interface Services {
    advisor: AdvisorService
  }
}
