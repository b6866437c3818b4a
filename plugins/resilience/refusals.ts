// Errors for callers when all accounts are blocked.
import { GatewayError } from '../../core/errors/gateway-error.ts'
import { restingText } from '../../core/errors/resting.ts'
import type { Block } from './account-state.ts'

/** In the walk: not this account, the next one. */
export function skipping({ reason, until }: Block, now: number): GatewayError {
  const retryAfterMs = until === null ? null : Math.max(1000, until - now)
  const message = restingText('This account is not asked now', [reason], retryAfterMs)
  if (reason !== 'circuit_open' && reason !== 'disabled') return GatewayError.rateLimited(message, retryAfterMs, reason)
  return new GatewayError(message, {
    ...{ status: 503, type: 'api_error', code: 'upstream_unavailable' },
    ...{ retryAfterMs, skip: reason },
  })
}

/** The error when no account is left and waiting does not help: later callers get the same error as the first. null: the ordinary error. */
export function refusalOf(blocks: readonly Block[], now: number): GatewayError | null {
  if (blocks.some(({ reason, lock }) => reason !== 'disabled' && (lock === null || !LASTING.has(lock)))) return null
  const waits = blocks.flatMap(({ until }) => (until === null ? [] : [until - now]))
  const retryAfterMs = waits.length > 0 ? Math.max(1000, Math.min(...waits)) : null
  if (blocks.every(({ lock }) => lock === 'not_found'))
    return new GatewayError('The provider does not know this model, or the account has no access to it.', {
      ...{ status: 404, type: 'invalid_request_error', code: 'model_not_found', param: 'model', retryAfterMs },
    })
  return new GatewayError(
    'The upstream refuses the gateway’s credential or account. An operator has to look at this connection.',
    { status: 502, type: 'api_error', code: 'upstream_error', retryAfterMs },
  )
}

const LASTING: ReadonlySet<string> = new Set(['permission', 'not_found', 'misconfigured'])
