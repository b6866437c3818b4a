// Derives the effects of an upstream's failure on its account. The functions are pure; account-state.ts holds the state.
import { isQuota } from '../../../core/errors/classify.ts'
import { RATE_LIMIT_MAX_MS } from '../../../core/errors/retry-hint.ts'
import type { GatewayErrorShape, UpstreamFailure } from '../../../core/types/error.ts'

export interface Span {
  ms: number
  /** Doubled for each consecutive time. */
  backoff: boolean
}

export type LockReason = 'rate_limited' | 'permission' | 'not_found' | 'misconfigured' | 'rule' | 'operator'

export interface Effect {
  /** Lock of the requested model; `all`: of every model. */
  lock?: Span & { reason: LockReason; all?: true }
  /** Cooldown of the account. */
  cooldown?: Span
  quotaMs?: number
  /** The credential is refused: no call until the connection changes. */
  refused?: true
  /** Counts towards opening the circuit. */
  breaker?: true
  /** The upstream's own retry time, which a request may wait for, ms. */
  waitMs?: number
  /** The executor's next step, when it differs from the error's own. */
  walk?: UpstreamFailure['walk']
  /** True: one more call to the same account. */
  again?: true
}

export const QUOTA_MS = 3_600_000
export const LOCK_MS = 120_000
export const UNKNOWN_MS = 30_000
const BILLING_MS = 120_000
const MISCONFIGURED_MS = 60_000
const OVERLOADED_MS = 5000
const BACKOFF_MS = 2000

/** @param error one from an upstream. @param conversation false: the upstream may have no route for the operation. */
export function effectOf(error: GatewayErrorShape, conversation = true): Effect {
  const { status, kind, stale, vendorCode } = error.upstream as UpstreamFailure
  // A dead proxy or a socket that was idle for too long shows nothing about the account.
  if (status === 0) return kind === 'proxy' || stale ? {} : { breaker: true }
  if (!conversation && isMissingRoute(error)) return {}
  if (status >= 500) return serverEffect(error, status === 529 || vendorCode === 'overloaded_error')
  if (status >= 300 && status < 400) return { lock: { ms: MISCONFIGURED_MS, backoff: false, reason: 'misconfigured', all: true } }
  switch (status) {
    case 400:
      return isBilling400(error) ? { quotaMs: quotaMs(error) } : {}
    case 401:
      return { refused: true }
    case 402:
      return isQuota(error) ? { quotaMs: quotaMs(error) } : { cooldown: { ms: BILLING_MS, backoff: false } }
    case 403:
      return { lock: { ms: LOCK_MS, backoff: false, reason: 'permission' } }
    case 404:
      return isOtherThing(error) ? {} : { lock: { ms: LOCK_MS, backoff: false, reason: 'not_found' } }
    case 408:
      return { breaker: true }
    case 429:
      return rateEffect(error)
    default:
      return OF_THE_REQUEST.has(status) ? {} : { cooldown: { ms: UNKNOWN_MS, backoff: false }, walk: 'next_account' }
  }
}

/** Statuses about the request, not about the account. */
const OF_THE_REQUEST = new Set([405, 406, 409, 410, 411, 412, 413, 414, 415, 416, 417, 422, 424, 431, 451])

function serverEffect(error: GatewayErrorShape, overloaded: boolean): Effect {
  const hint = error.retryAfterMs === null ? null : Math.min(error.retryAfterMs, RATE_LIMIT_MAX_MS)
  if (hint !== null) return { breaker: true, cooldown: { ms: hint, backoff: false }, waitMs: hint }
  return overloaded ? { breaker: true, cooldown: { ms: OVERLOADED_MS, backoff: false } } : { breaker: true }
}

function rateEffect(error: GatewayErrorShape): Effect {
  const hint = error.retryAfterMs
  // Google sends RESOURCE_EXHAUSTED and "quota" also for a limit per minute: a limit that ends within the hour is a rate limit.
  const rate = hint !== null && hint <= RATE_LIMIT_MAX_MS && error.upstream?.vendorCode === 'RESOURCE_EXHAUSTED'
  if ((hint !== null && hint > RATE_LIMIT_MAX_MS) || (isQuota(error) && !rate)) return { quotaMs: quotaMs(error) }
  const span: Span = hint === null ? { ms: BACKOFF_MS, backoff: true } : { ms: hint, backoff: false }
  const effect: Effect = hint === null ? {} : { waitMs: hint }
  return ACCOUNT_WIDE.test(error.message)
    ? { ...effect, cooldown: span }
    : { ...effect, lock: { ...span, reason: 'rate_limited' } }
}

const ACCOUNT_WIDE = /\baccount[- ](?:wide|level)\b|\ball models\b|\bconcurrent (?:requests|connections)\b/i

function quotaMs(error: GatewayErrorShape): number {
  return error.retryAfterMs ?? QUOTA_MS
}

/**
 * A 400 may quote the caller, whose text must not disable an account. So only the vendor's own code, or Anthropic's sentence at the very
 * start, means money.
 */
function isBilling400(error: GatewayErrorShape): boolean {
  return (
    /^(?:insufficient_quota|billing_error|credit_balance_exhausted|enforced_spend_limit_reached)$/.test(
      error.upstream?.vendorCode ?? '',
    ) || /^your credit balance is too low\b/i.test(error.message)
  )
}

/** It shows nothing about the account or the model. */
function isMissingRoute({ message, upstream }: GatewayErrorShape): boolean {
  const { status, vendorCode } = upstream as UpstreamFailure
  return status === 501 || (status === 404 && !/model/i.test(`${vendorCode ?? ''} ${message}`))
}

/** A 404 about another thing that the request names: the caller's mistake, whatever the model is. */
function isOtherThing({ param, message, upstream }: GatewayErrorShape): boolean {
  if (param !== null) return param !== 'model'
  if (/model/i.test(`${upstream?.vendorCode ?? ''} ${message}`)) return false
  return /\b(?:previous_response|response|conversation|item|file|vector.?store|container|thread)s?\b.{0,80}\bnot found\b/i.test(
    message,
  )
}
