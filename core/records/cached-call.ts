// Usage and cost of the call that first produced a cached answer.
import { addedUsage } from '../calls/derived-answer.ts'
import type { CachedCall, Outcome, RequestContext } from '../types/request/context.ts'

/** Returns null when there is nothing to keep: the call failed, or no upstream was called. */
export function callOf(ctx: RequestContext, outcome: Outcome, now: number): CachedCall | null {
  const { steps, status, error, aborted, cached, costNano, chargeNano } = outcome
  const last = steps.at(-1)
  if (status !== 200 || aborted || error !== undefined || cached !== false || last === undefined) return null
  const usage = steps.slice(1).reduce((sum, step) => addedUsage(sum, step.usage), (steps[0] ?? last).usage)
  return {
    requestId: ctx.id,
    at: now,
    provider: last.provider,
    model: last.model,
    usage: { ...usage, raw: null },
    costNano,
    chargeNano,
    priceRef: last.priceRef,
  }
}
