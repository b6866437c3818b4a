// Computes the saving of a provider's prompt cache: the cost of the same prompts without it. Cache writes cost more than plain input, so
// the result may be negative; that is booked too.
import type { Usage } from '../../../core/types/request/answer.ts'
import type { RequestContext, Step } from '../../../core/types/request/context.ts'
import type { Money } from '../money.ts'
import type { Saving } from '../saving.ts'

/** Steps shown in a receipt; further steps are included in the sum. */
const SHOWN_STEPS = 16

export function usesPromptCache(steps: readonly Step[]): boolean {
  for (const { usage } of steps) if (usage.cacheRead > 0 || usage.cacheWrite > 0) return true
  return false
}

/** Returns null when there is no difference, or no price is known. */
export function promptCacheSaving(money: Money, ctx: RequestContext, steps: readonly Step[]): Saving | null {
  let usdSavedNano = 0
  let prompt = 0
  let first: { step: Step; ref: string } | null = null
  const shown: Record<string, unknown>[] = []
  for (const step of steps) {
    const { usage, provider, model } = step
    if (usage.cacheRead <= 0 && usage.cacheWrite <= 0) continue
    const connection = money.connectionOf(ctx, step)
    const paid = money.price(ctx, connection, model, usage)
    const plain = money.price(ctx, connection, model, withoutCache(usage))
    if (paid === null || plain === null) continue
    const saved = plain.costNano - paid.costNano
    if (saved === 0) continue
    first ??= { step, ref: paid.ref }
    usdSavedNano += saved
    prompt += usage.inputTotal
    const { cacheRead: cache_read_tokens, cacheWrite: cache_write_tokens } = usage
    if (shown.length < SHOWN_STEPS)
      shown.push({ provider, model, cache_read_tokens, cache_write_tokens, usd_saved_nano: saved, price_ref: paid.ref })
  }
  if (first === null || usdSavedNano === 0) return null
  const { step, ref } = first
  return {
    source: 'prompt_cache',
    method: 'measured',
    provider: step.provider,
    model: step.model,
    usageSource: step.source,
    // The tokens were sent and processed anyway; only their price was different.
    tokensBefore: prompt,
    tokensAfter: prompt,
    usdSavedNano,
    priceRef: money.ref(ctx, step.provider, step.model, ref),
    details: { steps: shown },
  }
}

function withoutCache(usage: Usage): Usage {
  return { ...usage, cacheRead: 0, cacheWrite: 0, cacheWrite5m: 0, cacheWrite1h: 0 }
}
