// Reads the facts of a call from its answer, as `providerMetadata.hookgate`.
import type { TrackedCall } from './connection.ts'

/** A type and not an interface, so that it is a JSON object for the AI SDK. */
export type HookgateFacts = {
  /** The id in the gateway's log. */
  requestId: string | null
  /** The provider that answered; null: a cache. */
  provider: string | null
  model: string | null
  /** Upstream calls that were made. */
  attempts: number
  cache: 'hit' | 'miss' | null
  cacheType: 'exact' | 'semantic' | null
  /** Slugs of the parts that the target could not take. */
  warnings: string[]
  /** USD; null: no price is known, or the gateway is not in this process. */
  costUsd: number | null
}

/** Waits until the call is settled. Call it after the whole answer was read. */
export async function factsOf(call: TrackedCall): Promise<HookgateFacts> {
  const headers = call.headers()
  const outcome = await call.outcome()
  const nano = outcome === null ? null : outcome.steps.length === 0 ? 0 : outcome.costNano
  return {
    requestId: headers.get('x-gateway-request-id'),
    provider: headers.get('x-gateway-provider'),
    model: headers.get('x-gateway-model'),
    attempts: Number(headers.get('x-gateway-attempts') ?? 0),
    cache: headers.get('x-gateway-cache') as HookgateFacts['cache'],
    cacheType: headers.get('x-gateway-cache-type') as HookgateFacts['cacheType'],
    warnings: (headers.get('x-gateway-warnings') ?? '').split(/\s*,\s*/).filter(Boolean),
    costUsd: nano === null ? null : nano / 1e9,
  }
}
