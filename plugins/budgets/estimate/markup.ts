// Adds the markup of shared connections to an estimate, because budgets count charges.
import type { PriceService } from '../../../core/services.ts'
import type { RequestContext } from '../../../core/types/request/context.ts'
import type { Estimate } from './rules.ts'

export function withMarkup(
  estimate: (ctx: RequestContext) => Estimate,
  prices: () => PriceService | undefined,
): (ctx: RequestContext) => Estimate {
  return (ctx) => {
    const found = estimate(ctx)
    const shared = ctx.plan?.targets[0]?.shared
    if (shared === undefined) return found
    const chargeOf = (nano: number): number => prices()?.sharedCharge?.(nano, ctx.principal.orgId, shared) ?? nano
    return { ...found, nano: chargeOf(found.nano), leastNano: chargeOf(found.leastNano) }
  }
}
