// Computes savings that other plugins claim for a request.
import { comparableJson } from '../../../core/json/comparable-json.ts'
import type { Outcome, RequestContext } from '../../../core/types/request/context.ts'
import type { Money } from '../money.ts'
import type { Saving } from '../saving.ts'
import type { Claim } from '../service.ts'

const SOURCE = /^[a-z][a-z0-9_]{0,39}$/
const MAX_DETAILS = 4096

/** @throws TypeError. */
export function checkedClaim(claim: Claim): Claim {
  const { source, tokensBefore, tokensAfter, usdSavedNano = 0, details = {} } = claim
  if (!SOURCE.test(source))
    throw new TypeError('savings.claim: `source` must be lower-case letters, digits and underscores, at most 40.')
  if (!isCount(tokensBefore) || !isCount(tokensAfter))
    throw new TypeError('savings.claim: `tokensBefore` and `tokensAfter` must be whole numbers from 0 on.')
  if (!Number.isSafeInteger(usdSavedNano)) throw new TypeError('savings.claim: `usdSavedNano` must be a whole number.')
  return comparableJson(details).length <= MAX_DETAILS ? claim : { ...claim, details: { left_out: true } }
}

/** Returns null when no upstream was called: there is no saving. */
export function claimedSaving(money: Money, ctx: RequestContext, { steps }: Outcome, claim: Claim): Saving | null {
  const step = steps.at(-1)
  if (step === undefined) return null
  const { source, method, tokensBefore, tokensAfter, details = {} } = claim
  const saved = tokensBefore - tokensAfter
  if (saved === 0 && (claim.usdSavedNano ?? 0) === 0) return null
  const { provider, model, usage } = step
  const connection = money.connectionOf(ctx, step)
  const paid = money.price(ctx, connection, model, usage)
  // Priced as a part of the whole prompt, because its length may select the price tier.
  const plain = money.price(ctx, connection, model, { ...usage, inputTotal: Math.max(0, usage.inputTotal + saved) })
  const priced = paid === null || plain === null ? 0 : plain.costNano - paid.costNano
  return {
    source,
    method,
    provider,
    model,
    usageSource: step.source,
    tokensBefore,
    tokensAfter,
    details,
    usdSavedNano: claim.usdSavedNano ?? priced,
    priceRef: paid === null ? null : money.ref(ctx, provider, model, paid.ref),
  }
}

function isCount(tokens: number): boolean {
  return Number.isSafeInteger(tokens) && tokens >= 0
}
