// Computes the saving of a cached answer: the avoided call.
import type { CachedCall, Outcome, RequestContext } from '../../../core/types/request/context.ts'
import type { Money } from '../money.ts'
import type { PriceRef, Saving } from '../saving.ts'

/** Returns null when the cache did not record the original call. */
export function cachedSaving(money: Money, ctx: RequestContext, { cached, cachedCall }: Outcome): Saving | null {
  if (cached === false || cachedCall === undefined) return null
  const { usage, provider, model } = cachedCall
  const { usdSavedNano, priceRef } = avoided(money, ctx, cachedCall)
  return {
    source: cached === 'exact' ? 'exact_cache' : 'semantic_cache',
    method: usage.estimated ? 'tokenizer' : 'measured',
    // The same names as in the usage row of a cached answer.
    provider,
    model,
    usageSource: 'cache',
    tokensBefore: usage.inputTotal + usage.outputTotal,
    tokensAfter: 0,
    usdSavedNano,
    priceRef,
    details: {
      stored_request_id: cachedCall.requestId,
      input_tokens: usage.inputTotal,
      output_tokens: usage.outputTotal,
      cache_read_tokens: usage.cacheRead,
      cache_write_tokens: usage.cacheWrite,
    },
  }
}

/**
 * The stored call's cost while the same price list applies, otherwise its tokens at current prices. A call of several models keeps its
 * cost, because its tokens are not split by model.
 */
function avoided(
  money: Money,
  ctx: RequestContext,
  { provider, model, usage, costNano, priceRef }: CachedCall,
): { usdSavedNano: number; priceRef: PriceRef | null } {
  const strategy = ctx.plan?.strategy
  const several = strategy === 'fusion' || strategy === 'pipeline'
  const account = several ? null : (money.accounts(ctx, { provider, model, connectionId: null })[0] ?? null)
  const now = money.price(ctx, account, model, usage)
  // An override keeps its reference when its price changes.
  if (now !== null && (costNano === null || now.ref !== priceRef || now.ref === 'override'))
    return { usdSavedNano: now.costNano, priceRef: money.ref(ctx, provider, model, now.ref) }
  const ref = costNano === null || priceRef === null ? null : money.ref(ctx, provider, model, priceRef)
  return { usdSavedNano: costNano ?? 0, priceRef: ref }
}
