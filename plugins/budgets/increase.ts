// How much a temporary increase adds, and until when.
import { GatewayError } from '../../core/errors/gateway-error.ts'
import type { IncreaseBody } from './api-fields.ts'
import { NANO, nanoOf } from './fields.ts'

const DAY_MS = 86_400_000

/** Nano-USD. @param limitNano what holds now. @throws GatewayError 400. */
export function increaseAmount({ amount_usd, additional_usd, hard_limit_usd }: IncreaseBody, limitNano: number): number {
  const given = [amount_usd, additional_usd, hard_limit_usd].filter((one) => one !== undefined)
  if (given.length !== 1)
    throw GatewayError.invalid(
      'amount_usd',
      'Say how much more as `amount_usd` (or `additional_usd`), or up to which limit as `hard_limit_usd`: one of them.',
    )
  if (hard_limit_usd === undefined) return nanoOf((amount_usd ?? additional_usd) as number)
  const more = nanoOf(hard_limit_usd) - limitNano
  if (more > 0) return more
  throw GatewayError.invalid(
    'hard_limit_usd',
    `\`hard_limit_usd\`: the limit is ${limitNano / NANO} USD now; an increase goes above it.`,
  )
}

/** Epoch ms. @param maxDays 0 = no bound. @throws GatewayError 400. */
export function increaseEnd({ expires_at }: IncreaseBody, now: number, maxDays: number): number {
  const end = Date.parse(expires_at)
  if (end <= now) throw GatewayError.invalid('expires_at', '`expires_at` is past: say when the increase is to end.')
  if (maxDays > 0 && end > now + maxDays * DAY_MS)
    throw GatewayError.invalid(
      'expires_at',
      `\`expires_at\` is more than ${maxDays} days ahead (GATEWAY_MAX_BUDGET_INCREASE_DAYS): the latest is ${new Date(now + maxDays * DAY_MS).toISOString()}.`,
    )
  return end
}
