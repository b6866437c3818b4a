// Computes the policy for the sign-ins of one provider: the mode overrides the observed verdict, which overrides the built-in verdict.
import type { Mode, PolicyRow, Verdict } from './store.ts'

/** Vendors that offer sign-in with a personal subscription; their terms restrict it to their own clients. */
export const SUBSCRIPTION_PROVIDERS = ['anthropic', 'google', 'openai'] as const

export interface Policy {
  readonly providerId: string
  readonly mode: Mode
  readonly verdict: Verdict | 'unknown'
  readonly source: 'observed' | 'builtin'
  readonly reason: string | null
  /** Epoch ms. */
  readonly observedAt: number | null
  readonly effective: 'allowed' | 'blocked'
}

const POOLED = 'Pooling subscriptions of people breaches the terms of most vendors; allow it here if yours are different.'

export function policyOf(providerId: string, row: PolicyRow | undefined, profile: 'local' | 'cloud'): Policy {
  const mode = row?.mode ?? 'auto'
  // A sign-in is a person's account, whichever vendor it is at: on the cloud profile an operator allows it first.
  const kept = profile === 'cloud'
  const observed = row?.verdict ?? null
  // One successful request does not change the terms.
  const builtin = observed === null || (kept && observed === 'ok')
  const verdict = builtin ? (kept ? 'restricted' : 'unknown') : observed
  return {
    providerId,
    mode,
    verdict,
    source: builtin ? 'builtin' : 'observed',
    reason: builtin ? (kept ? POOLED : null) : (row?.reason ?? null),
    observedAt: builtin ? null : (row?.observed_at ?? null),
    effective: mode === 'block' || (mode === 'auto' && verdict === 'restricted') ? 'blocked' : 'allowed',
  }
}
