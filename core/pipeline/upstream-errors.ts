// Errors of answers that could not be read.
import { GatewayError } from '../errors/gateway-error.ts'
import { retryHint } from '../errors/retry-hint.ts'
import type { HeaderBag } from '../types/ports/ports.ts'

/** Says why a large answer was not built. */
export function unbuilt(error: unknown): string {
  if (!GatewayError.is(error) || error.code !== 'too_many_values') return 'The upstream answered with broken JSON.'
  return 'The upstream answered with more values than GATEWAY_MAX_ANSWER_VALUES and GATEWAY_MAX_ANSWER_NUMBERS allow.'
}

/** Adds the upstream's own retry time to the error. */
export function hinted(error: GatewayError, headers: HeaderBag | null, body: Uint8Array, now: number): GatewayError {
  if (headers === null || error.retryAfterMs !== null || error.upstream === null) return error
  const retryAfterMs = retryHint(headers, body, now)
  if (retryAfterMs === null) return error
  return error.with({ retryAfterMs })
}
