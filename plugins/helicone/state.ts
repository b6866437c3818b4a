// Options from a request's Helicone headers, for later stages.
import type { FallbackState } from './fallbacks.ts'
import type { RatePolicy } from './rate-policy.ts'
import type { RetryPolicy } from './retry.ts'

export interface Asked extends FallbackState {
  /** The caller's own id for the request. */
  readonly requestId: string | null
  readonly retry: RetryPolicy | null
  readonly rate: RatePolicy | null
  readonly targetUrl: string | null
  readonly streamUsage: boolean
  /** The provider that the target URL stands for, where it decided. */
  chosen: string | null
}
