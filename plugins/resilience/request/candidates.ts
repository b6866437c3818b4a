// Removes accounts that must not be called now. A healthy account costs one look-up. When none would be left, circuits that allow an early
// probe stay.
import { GatewayError } from '../../../core/errors/gateway-error.ts'
import { restingText } from '../../../core/errors/resting.ts'
import type { ConnectionService } from '../../../core/services.ts'
import type { Clock } from '../../../core/types/ports/ports.ts'
import type { Connection } from '../../../core/types/ports/provider.ts'
import type { Candidate, RequestContext } from '../../../core/types/request/context.ts'
import type { AccountBook } from '../accounts/account-book.ts'
import type { Block } from '../accounts/account-state.ts'
import type { EarlyProbes } from '../probes/early-probes.ts'
import { lockName } from './lock-name.ts'

export interface CandidatesParts {
  book: AccountBook
  clock: Clock
  early: EarlyProbes
  /** Called with all candidates when some are skipped. */
  planned(ctx: RequestContext, candidates: readonly Candidate[]): void
  /** Returns true for a candidate that the quota hook will remove later. */
  usedUp(candidate: Candidate): boolean
}

/** An operator's test of a connection is sent in any state. */
export function isTest(ctx: RequestContext): boolean {
  return ctx.ingress === null && ctx.source === 'test'
}

/** Tells the executor to skip this account. */
export function skipping({ reason, until }: Block, now: number): GatewayError {
  const retryAfterMs = until === null ? null : Math.max(1000, until - now)
  const message = restingText('This account is not asked now', [reason], retryAfterMs)
  if (reason !== 'circuit_open' && reason !== 'auth_failed') return GatewayError.rateLimited(message, retryAfterMs, reason)
  return new GatewayError(message, {
    status: 503,
    type: 'api_error',
    code: 'upstream_unavailable',
    retryAfterMs,
    skip: reason,
  })
}

/**
 * Returns the error when no account is left and waiting does not help, so that later callers get the same error as the first. null: the
 * ordinary error.
 */
function refusalOf(blocks: readonly Block[], now: number): GatewayError | null {
  if (blocks.some(({ reason, lock }) => reason !== 'auth_failed' && (lock === null || !LASTING.has(lock)))) return null
  const waits = blocks.flatMap(({ until }) => (until === null ? [] : [until - now]))
  const retryAfterMs = waits.length > 0 ? Math.max(1000, Math.min(...waits)) : null
  if (blocks.every(({ lock }) => lock === 'not_found'))
    return new GatewayError('The provider does not know this model, or the account has no access to it.', {
      status: 404,
      type: 'invalid_request_error',
      code: 'model_not_found',
      param: 'model',
      retryAfterMs,
    })
  return new GatewayError(
    'The upstream refuses the gateway’s credential or account. An operator has to look at this connection.',
    { status: 502, type: 'api_error', code: 'upstream_error', retryAfterMs },
  )
}

const LASTING: ReadonlySet<string> = new Set(['permission', 'not_found', 'misconfigured'])

export function candidatesHook({
  book,
  clock,
  early,
  planned,
  usedUp,
}: CandidatesParts): (ctx: RequestContext, candidates: Candidate[]) => Candidate[] {
  return (ctx, candidates) => {
    if (candidates.every(({ connection }) => book.of(connection.id).quiet) || isTest(ctx)) return candidates
    const now = clock.monotonic()
    const blocks = new Map<Candidate, Block>()
    for (const candidate of candidates) {
      const { connection, target } = candidate
      const block = book.of(connection.id).blocked(connection, lockName(ctx, target.model), now)
      if (block !== null) blocks.set(candidate, block)
    }
    // A probe may fail also when it is due, so only closed circuits count.
    const closed = ({ connection }: Candidate): boolean => book.of(connection.id).breaker.closed
    const nobody = !candidates.some((candidate) => !blocks.has(candidate) && closed(candidate) && !usedUp(candidate))
    const looked = new Set(nobody ? early.among(ctx, candidates, now) : [])
    if (blocks.size > looked.size) planned(ctx, candidates)
    const kept = candidates.filter((candidate) => !blocks.has(candidate) || looked.has(candidate))
    for (const [candidate, block] of blocks) {
      if (looked.has(candidate)) continue
      ctx.skip(candidate, block.reason, block.until === null ? undefined : clock.now() + Math.ceil(block.until - now))
    }
    const refusal = kept.length === 0 ? refusalOf([...blocks.values()], now) : null
    if (refusal !== null) throw refusal
    return kept
  }
}

/** Cached by the connection object, because a changed connection is another object. */
export function accessOf({ secretOf }: Pick<ConnectionService, 'secretOf'>): (connection: Connection) => unknown {
  const known = new WeakMap<Connection, string>()
  return (connection) => {
    let access = known.get(connection)
    if (access === undefined) {
      access = JSON.stringify([connection.baseUrl, connection.headers, secretOf(connection)])
      known.set(connection, access)
    }
    return access
  }
}
