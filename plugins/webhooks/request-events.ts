// request.failed, request.rate_limited, request.budget_rejected: queued in the transaction that settles the
// request.
import type { Outcome, RequestContext } from '../../core/types/context.ts'
import type { GatewayErrorShape } from '../../core/types/error.ts'
import { requestRecord } from './request-record.ts'
import type { OutboxEvent } from './service.ts'

/** The event for a caller's answer; none for the gateway's own refusals except 402. */
export function requestEvent(ctx: RequestContext, outcome: Outcome, now: number): OutboxEvent | null {
  const { error } = outcome
  // Internal calls are reported with their parent.
  if (error === undefined || outcome.aborted || ctx.ingress === null) return null
  const what = failureOf(ctx, outcome.status, error)
  if (what === null) return null
  const { type, ...said } = what
  return { type, orgId: ctx.principal.orgId, data: { ...requestRecord(ctx, outcome, now), error: said }, occurredAt: now }
}

interface Failure {
  readonly type: 'request.failed' | 'request.rate_limited' | 'request.budget_rejected'
  readonly message: string
  readonly code: 'upstream_error' | 'rate_limited' | 'budget_exhausted'
  readonly retryable: boolean
}

function failureOf(ctx: RequestContext, status: number, error: GatewayErrorShape): Failure | null {
  if (status === 402 && error.code === 'budget_exhausted')
    return { type: 'request.budget_rejected', message: 'The budget is used up.', code: 'budget_exhausted', retryable: false }
  if (status === 429 && upstreamLimited(ctx))
    return { type: 'request.rate_limited', message: 'The upstream answered 429.', code: 'rate_limited', retryable: true }
  if (status < 500 || error.upstream === null) return null
  const { message, retryable } = upstreamFailure(error.upstream)
  return { type: 'request.failed', message, code: 'upstream_error', retryable }
}

function upstreamLimited({ attempts }: RequestContext): boolean {
  return attempts.some(({ status, error }) => status === 429 || error?.upstream?.status === 429)
}

/** An upstream's own words may quote the prompt. */
function upstreamFailure({ kind, status }: NonNullable<GatewayErrorShape['upstream']>): { message: string; retryable: boolean } {
  if (kind === 'stream') return { message: 'The upstream broke its stream off.', retryable: true }
  if (kind === 'timeout') return { message: 'The upstream did not answer in time.', retryable: true }
  if (kind === 'protocol') return { message: 'The upstream’s answer could not be understood.', retryable: true }
  if (status === 0) return { message: `The upstream could not be reached (${kind}).`, retryable: true }
  return { message: `The upstream answered ${status}.`, retryable: status >= 500 }
}
