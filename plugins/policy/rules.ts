// The policy for the sign-ins of one provider: mode overrides observed verdict overrides built-in verdict.
import type { Mode, PolicyRow, Verdict } from './store.ts'

/** Vendors whose subscriptions for people can be signed in with; their terms keep those to their own clients. */
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
  const kept = (SUBSCRIPTION_PROVIDERS as readonly string[]).includes(providerId) && profile === 'cloud'
  const observed = row?.verdict ?? null
  // One request that got through does not change the terms.
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
