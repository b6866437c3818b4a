// Computes the savings of a request as receipts. A request without savings costs a few comparisons.
import { comparableJson } from '../../core/json/comparable-json.ts'
import type { Outcome, RequestContext } from '../../core/types/request/context.ts'
import type { Money } from './money.ts'
import type { Booked } from './receipt.ts'
import type { Saving } from './saving.ts'
import type { Claim } from './service.ts'
import { cachedSaving } from './sources/cached.ts'
import { claimedSaving } from './sources/claimed.ts'
import { promptCacheSaving, usesPromptCache } from './sources/prompt-cache.ts'
import { isCheapestFirst, routingSaving } from './sources/routing.ts'

export type Claims = ReadonlyMap<string, Claim>

/** Returns at most one receipt per source; a plugin's claim takes precedence over the savings computed here. */
export function receiptsOf(money: Money, ctx: RequestContext, outcome: Outcome, claims: Claims | undefined): readonly Booked[] {
  const { steps, cached } = outcome
  const prompts = usesPromptCache(steps)
  const cheapest = isCheapestFirst(ctx.plan) ? ctx.plan : null
  if (cached === false && !prompts && cheapest === null && claims === undefined) return NONE
  const savings: (Saving | null)[] = [...(claims?.values() ?? [])].map((claim) => claimedSaving(money, ctx, outcome, claim))
  if (cached !== false) savings.push(cachedSaving(money, ctx, outcome))
  if (prompts) savings.push(promptCacheSaving(money, ctx, steps))
  if (cheapest !== null) savings.push(routingSaving(money, ctx, outcome, cheapest))
  return savings.flatMap((saving) => (saving === null ? [] : [bookedOf(ctx, saving)]))
}

const NONE: readonly Booked[] = []

function bookedOf(ctx: RequestContext, saving: Saving): Booked {
  const { priceRef } = saving
  return {
    request_id: ctx.id,
    source: saving.source,
    org_id: ctx.principal.orgId ?? 0,
    at: ctx.startedAt,
    provider: saving.provider,
    model: saving.model,
    key_id: ctx.principal.keyId,
    virtual_model: ctx.virtualModel,
    cost_center: ctx.costCenter,
    user_id: ctx.userId,
    usage_source: saving.usageSource,
    tokens_before: saving.tokensBefore,
    tokens_after: saving.tokensAfter,
    tokens_saved: saving.tokensBefore - saving.tokensAfter,
    usd_saved_nano: saving.usdSavedNano,
    method: saving.method,
    details: comparableJson(saving.details),
    price_ref: priceRef === null ? null : comparableJson(priceRef),
  }
}
