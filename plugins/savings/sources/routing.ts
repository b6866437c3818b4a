// Computes the saving of a virtual model that tries the cheapest target first: the cost at the most expensive target that could have
// answered.
import type { Outcome, Plan, RequestContext } from '../../../core/types/request/context.ts'
import type { Money } from '../money.ts'
import type { Saving } from '../saving.ts'

export function isCheapestFirst(plan: Plan | null): plan is Plan {
  return plan !== null && (plan.strategy === 'cost_optimized' || plan.strategy === 'listed_price')
}

/** Returns null when the request failed, no target was more expensive, or no price is known. */
export function routingSaving(money: Money, ctx: RequestContext, outcome: Outcome, { targets, strategy }: Plan): Saving | null {
  const step = outcome.steps.at(-1)
  if (step === undefined || outcome.status !== 200 || outcome.cached !== false) return null
  const { usage, provider, model } = step
  const paid = money.price(ctx, money.connectionOf(ctx, step), model, usage)
  if (paid === null) return null
  // Skipped and failed targets could not have answered.
  const out = new Set<string>()
  for (const { candidate, skipped, error } of ctx.attempts)
    if (skipped !== undefined || error !== undefined) out.add(`${candidate.connection.id} ${candidate.target.model}`)
  let dearest: { provider: string; model: string; costNano: number; ref: string } | null = null
  for (const target of targets) {
    const account = money.accounts(ctx, target).find(({ id }) => !out.has(`${id} ${target.model}`)) ?? null
    const price = money.price(ctx, account, target.model, usage)
    if (price === null || price.costNano <= (dearest ?? paid).costNano) continue
    dearest = { provider: target.provider, model: target.model, costNano: price.costNano, ref: price.ref }
  }
  if (dearest === null) return null
  const tokens = usage.inputTotal + usage.outputTotal
  return {
    source: 'routing',
    method: 'counterfactual',
    provider,
    model,
    usageSource: step.source,
    tokensBefore: tokens,
    tokensAfter: tokens,
    usdSavedNano: dearest.costNano - paid.costNano,
    priceRef: money.ref(ctx, provider, model, paid.ref),
    details: {
      strategy,
      cost_nano: paid.costNano,
      instead: { provider: dearest.provider, model: dearest.model, cost_nano: dearest.costNano },
      instead_price_ref: money.ref(ctx, dearest.provider, dearest.model, dearest.ref),
    },
  }
}
