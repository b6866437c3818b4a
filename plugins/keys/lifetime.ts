// How long a key may live: GATEWAY_MAX_KEY_DAYS bounds it.
import { GatewayError } from '../../core/errors/gateway-error.ts'

const DAY_MS = 86_400_000

/**
 * The end of a key's life, epoch ms: as asked for, or the bound where nothing was asked.
 * @throws GatewayError 400 for a time that has passed or lies beyond the bound.
 */
export function boundedExpiry(asked: number | null, now: number, maxDays: number | null): number | null {
  const bound = maxDays === null || maxDays === 0 ? null : now + maxDays * DAY_MS
  if (asked === null) return bound
  if (asked <= now) throw GatewayError.invalid('expires_at', '`expires_at` lies in the past.')
  if (bound !== null && asked > bound)
    throw GatewayError.invalid(
      'expires_at',
      `\`expires_at\` is more than ${maxDays} days away, the most that GATEWAY_MAX_KEY_DAYS allows.`,
    )
  return asked
}
