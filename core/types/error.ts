// The shape of the gateway's one error. The class is in core/errors, because types import only types.
export interface GatewayErrorShape extends Error {
  readonly status: number
  readonly type: string
  readonly code: string | null
  readonly param: string | null
  readonly retryAfterMs: number | null
  /** Set when the error applies to this candidate only and the request can continue. */
  readonly skip: SkipReason | null
  /** The upstream's failure; null when the gateway itself refused. */
  readonly upstream: UpstreamFailure | null
  /** Extra response headers, flat (`allow` of a 405). */
  readonly headers?: readonly string[]
  /** Returns the same error with other members. Members that `patch` does not name stay. */
  with(patch: { message?: string; retryAfterMs?: number | null; headers?: readonly string[]; cause?: unknown }): GatewayErrorShape
}

/** The facts about a failure that the executor and the routing plugins use. */
export interface UpstreamFailure {
  readonly kind: 'connect' | 'tls' | 'dns' | 'proxy' | 'reset' | 'timeout' | 'protocol' | 'status' | 'stream'
  /** The upstream's own status, 0 when none was received. */
  readonly status: number
  /** The vendor's own error code or type, if it sent one. */
  readonly vendorCode: string | null
  /** The field that an "unsupported field" answer names. */
  readonly field: string | null
  /** The field is supported, but the identifier in it is too long. */
  readonly fieldTooLong?: boolean
  /** True when a reused keep-alive connection closed before the first byte of the answer. Only then is a blind resend allowed. */
  readonly stale: boolean
  /** A plugin sets it to choose the executor's next step. */
  readonly walk?: 'return' | 'next_account' | 'next_target'
}

/** Why a candidate was skipped. */
export type SkipReason =
  | 'no_connection'
  | 'model_locked'
  | 'cooldown'
  | 'quota_exhausted'
  | 'circuit_open'
  | 'at_capacity'
  | 'policy_blocked'
  | 'reauth_required'
  | 'auth_failed'
  | 'not_allowed'
  | 'disabled'
  | 'capability'
  | 'unsupported'
