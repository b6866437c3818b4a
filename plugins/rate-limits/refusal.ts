// The gateway's own 429: it names the limit and the retry time, in the headers that SDKs read.
import { GatewayError } from '../../core/errors/gateway-error.ts'

export function overRate(unit: 'requests' | 'tokens', limit: number, retryAfterMs: number): GatewayError {
  const seconds = Math.max(1, Math.ceil(retryAfterMs / 1000))
  return new GatewayError(`Over the limit of ${limit} ${unit} per minute. Try again in ${seconds} s.`, {
    status: 429,
    type: 'rate_limit_error',
    code: 'rate_limited',
    retryAfterMs,
    headers: [
      `x-ratelimit-limit-${unit}`,
      String(limit),
      `x-ratelimit-remaining-${unit}`,
      '0',
      `x-ratelimit-reset-${unit}`,
      `${seconds}s`,
    ],
  })
}
