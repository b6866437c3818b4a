// `Helicone-Retry-*`: retries the same account, with growing pauses, before the next one is tried.
import { GatewayError } from '../../core/errors/gateway-error.ts'
import type { Clock, HeaderBag } from '../../core/types/ports/ports.ts'
import type { RequestContext } from '../../core/types/request/context.ts'
import type { Result } from '../../core/types/request/result.ts'
import { isTrue, wholeNumber } from './headers.ts'

export interface RetryPolicy {
  readonly count: number
  readonly factor: number
  readonly minMs: number
  readonly maxMs: number
}

const MAX_RETRIES = 5
const MAX_PAUSE_MS = 60_000

export function readRetry(headers: HeaderBag): RetryPolicy | null {
  if (!isTrue(headers, 'helicone-retry-enabled')) return null
  const factor = Number(headers.get('helicone-retry-factor') ?? Number.NaN)
  return {
    count: wholeNumber(headers.get('helicone-retry-num'), 0, MAX_RETRIES, MAX_RETRIES),
    factor: factor >= 1 && factor <= 10 ? factor : 2,
    minMs: wholeNumber(headers.get('helicone-retry-min-timeout'), 0, MAX_PAUSE_MS, 1000),
    maxMs: wholeNumber(headers.get('helicone-retry-max-timeout'), 0, MAX_PAUSE_MS, 10_000),
  }
}

/** When an upstream asks for a longer wait than `maxMs`, the next account is tried. */
export async function retrying(
  ctx: RequestContext,
  next: () => Promise<Result>,
  { count, factor, minMs, maxMs }: RetryPolicy,
  clock: Clock,
): Promise<Result> {
  let last: unknown = null
  for (let retry = 0; ; retry++) {
    try {
      return await next()
    } catch (error) {
      // The same error again means that the request has used all its calls.
      if (retry >= count || error === last || !isPassing(error)) throw error
      last = error
      const pause = Math.max(Math.min(minMs * factor ** retry, maxMs), error.retryAfterMs ?? 0)
      if (pause > maxMs) throw error
      await clock.sleep(pause, ctx.signal)
    }
  }
}

/** Returns true for 429, 5xx, and a missing answer. */
function isPassing(error: unknown): error is GatewayError {
  if (!GatewayError.is(error) || error.upstream === null || error.skip !== null) return false
  const { status } = error.upstream
  return status === 0 || status === 429 || status >= 500
}
