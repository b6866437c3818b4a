// Decides how the executor continues after a failed attempt, and which error the caller gets after the last one. It holds no state:
// breakers and cooldowns are plugins.

import type { GatewayErrorShape } from '../types/error.ts'
import type { Dialect } from '../types/request/canonical.ts'
import { GatewayError } from './gateway-error.ts'

/**
 * `return`: the caller gets the error now. `retry_fresh_socket`: the same candidate once more. `next_account`, `next_target`, `skip`:
 * continue with another candidate.
 */
export type WalkAction = 'return' | 'retry_fresh_socket' | 'next_account' | 'next_target' | 'skip'

export function walkAction(error: GatewayErrorShape): WalkAction {
  if (error.skip !== null) return 'skip'
  const failure = error.upstream
  // Without an upstream the error is a decision of the gateway or of a plugin.
  if (failure === null) return 'return'
  if (failure.walk !== undefined) return failure.walk
  if (failure.stale) return 'retry_fresh_socket'
  if (failure.status === 0) return 'next_account'
  const { status } = failure
  // 404 too: the existence of a model depends on the account or deployment, not only on the vendor.
  if (status >= 500 || [401, 402, 403, 404, 408, 409, 429].includes(status)) return 'next_account'
  if (isQuota(error)) return 'next_account'
  return 'return'
}

const QUOTA =
  /insufficient_quota|credit[_ ]balance|spend_limit|billing|quota.{0,20}exceeded|exceeded.{0,30}quota|usage[_ ]limit[_ ]reached/i

/** Returns whether a 429 or 400 is about money rather than rate. */
export function isQuota(error: GatewayErrorShape): boolean {
  const status = error.upstream?.status
  return (
    (status === 400 || status === 402 || status === 429) && QUOTA.test(`${error.upstream?.vendorCode ?? ''} ${error.message}`)
  )
}

/**
 * Returns the caller's error after every candidate failed. `failures` has at least one entry, in order. `passedOver`: the waits of
 * skipped accounts, in ms. Status, type and code are the gateway's own: an upstream's 401 must not look as if the caller's key were
 * wrong.
 */
export function finalError(
  failures: readonly GatewayErrorShape[],
  caller: Dialect,
  passedOver: readonly number[] = [],
): GatewayErrorShape {
  const last = failures[failures.length - 1] as GatewayErrorShape
  const limited = failures.filter(
    (error) => error.upstream?.status === 429 || error.skip === 'at_capacity' || error.skip === 'cooldown',
  )
  if (limited.length === failures.length) {
    const waits = [...passedOver, ...limited.map((error) => error.retryAfterMs).filter((ms) => ms !== null)]
    return GatewayError.rateLimited(
      `Every upstream account for this model is rate limited or at capacity. ${last.message}`,
      waits.length > 0 ? Math.min(...waits) : null,
      null,
      last,
    )
  }
  // When some upstream was called, the skips do not explain the failure.
  const tried = failures.filter((error) => error.skip === null)
  return asCallerError(tried[tried.length - 1] ?? last, caller)
}

export function asCallerError(error: GatewayErrorShape, caller: Dialect): GatewayErrorShape {
  const status = error.upstream?.status ?? 0
  if (status === 0) return error
  if (status === 429) return GatewayError.rateLimited(error.message, error.retryAfterMs, null, error)
  if (status === 529 && caller === 'messages') return own(529, 'overloaded_error', error)
  if (status >= 500) return own([500, 502, 503, 504].includes(status) ? status : status === 529 ? 503 : 502, 'api_error', error)
  if (status === 401 || status === 403 || status === 402 || isQuota(error)) {
    return new GatewayError(
      'The upstream refused the gateway’s credential or account. An operator has to look at this connection.',
      {
        status: 502,
        type: 'api_error',
        code: 'upstream_error',
        cause: error,
        upstream: error.upstream ?? undefined,
      },
    )
  }
  if (status >= 300 && status < 400) return own(502, 'api_error', error)
  return error
}

function own(status: number, type: string, error: GatewayErrorShape): GatewayError {
  return new GatewayError(error.message, {
    status,
    type,
    code: 'upstream_error',
    retryAfterMs: error.retryAfterMs,
    upstream: error.upstream ?? undefined,
    cause: error,
  })
}
