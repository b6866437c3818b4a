// The shape of the gateway's one error; the class is in core/errors (types import nothing but types).
export interface GatewayErrorShape extends Error {
  readonly status: number
  readonly type: string
  readonly code: string | null
  readonly param: string | null
  readonly retryAfterMs: number | null
  /** Set when the error means "not this candidate" rather than "this request failed". */
  readonly skip: SkipReason | null
  /** The class of failure an upstream showed, null for the gateway's own refusals. */
  readonly upstream: UpstreamFailure | null
  /** Extra response headers, flat (`allow` of a 405). */
  readonly headers?: readonly string[]
  /** The same error with other members; all that `patch` leaves out stays. */
  with(patch: { message?: string; retryAfterMs?: number | null; headers?: readonly string[]; cause?: unknown }): GatewayErrorShape
}

/** The facts about a failure that the executor and the routing plugins use. */
export interface UpstreamFailure {
  readonly kind: 'connect' | 'tls' | 'dns' | 'proxy' | 'reset' | 'timeout' | 'protocol' | 'status' | 'stream'
  /** The upstream's own status, 0 when none was received. */
  readonly status: number
  /** The vendor's own error code or type, when it sent one. */
  readonly vendorCode: string | null
  /** The field an "unsupported field" answer names. */
  readonly field: string | null
  /** The field is known, but the identifier in it is too long. */
  readonly fieldTooLong?: boolean
  /** True when no byte of a reused keep-alive connection had been answered: the one legal blind resend. */
  readonly stale: boolean
  /** Set by a plugin that knows better where the walk goes from here. */
  readonly walk?: 'return' | 'next_account' | 'next_target'
}

/** Why a candidate was passed over. */
export type SkipReason =
  | 'no_connection'
  | 'model_locked'
  | 'cooldown'
  | 'quota_exhausted'
  | 'circuit_open'
  | 'at_capacity'
  | 'policy_blocked'
  | 'not_allowed'
  | 'disabled'
  | 'capability'
  | 'unsupported'
