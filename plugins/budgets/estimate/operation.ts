// Estimates the cost of an operation other than chat before it is sent: its units exactly, its tokens as an upper bound.
import { noUsage } from '../../../core/models/token-estimate.ts'
import type { RequestContext } from '../../../core/types/request/context.ts'
import type { Estimate, EstimateRules } from './rules.ts'

/** Returns the price at the most expensive account that may serve the request. */
export function estimateOperation(ctx: RequestContext, { operations, connections, prices }: EstimateRules): Estimate {
  const driver = operations.of(ctx.operation)
  const service = prices()
  if (driver === undefined || service === undefined) return { nano: 0, leastNano: 0, explicit: false }
  const { inputTokens = 0, outputTokens = 0, units, bounded = true } = driver.estimate(ctx.request as never)
  const tokens = { inputTotal: inputTokens, outputTotal: outputTokens, total: inputTokens + outputTokens }
  const usage = { ...noUsage(), ...tokens, ...(units === undefined ? {} : { units }) }
  let nano = 0
  for (const { provider, model, shared, connectionId } of ctx.plan?.targets ?? []) {
    const found = shared === undefined ? connections()?.list(provider, model, ctx) : connections()?.shared?.(connectionId ?? '')
    for (const connection of found === undefined ? [] : [found].flat())
      nano = Math.max(nano, service.price({ connection, model, operation: ctx.operation, usage })?.costNano ?? 0)
  }
  return { nano, leastNano: bounded ? nano : 0, explicit: bounded }
}
