// Counters that survive the loss of their shared store. `take` and `acquire` may refuse a request and follow
// GATEWAY_LIMITER_REDIS_FALLBACK. `debit` and `once` never refuse, and this process alone answers them.
import { GatewayError } from '../../core/errors/gateway-error.ts'
import type { Clock, Counters, TakeResult } from '../../core/types/ports/ports.ts'

export type FallbackPolicy = 'fail-open' | 'local' | 'fail-closed'

/** The way to the shared store. */
export interface FallbackLink {
  /** Shown in /healthz. */
  readonly name: 'redis' | 'primary'
  /** True when the store answers. */
  readonly usable: boolean
  /** True when it answered at least once since boot. */
  readonly everReady: boolean
  /** Returns null when the store is unavailable: then nothing was sent. Rejects when it fails or does not answer in time. */
  attempt<T>(operation: (store: { ping(): Promise<unknown> }) => Promise<T>): Promise<T> | null
}

export interface FallbackCountersOptions {
  shared: Counters
  /** Counters of this process: memoryCounters. */
  local: Counters
  link: FallbackLink
  policy: FallbackPolicy
  clock: Clock
}

/** The state of the store for /healthz. */
export interface StoreHealth {
  ok: boolean
  /** Latency of a fresh round trip; null when there was none. */
  latency_ms: number | null
  /** The store in use now. */
  mode: FallbackLink['name'] | 'local'
}

export interface FallbackCounters extends Counters {
  health(): Promise<StoreHealth>
}

type Lease = Awaited<ReturnType<Counters['acquire']>>

/**
 * A store that was never reached since boot counts as absent: local counters apply, so that a wrong URL does not disable limits. Under
 * `fail-closed` take and acquire then reject with 503 `storage_unavailable`, as they do after a loss.
 */
export function fallbackCounters({ shared, local, link, policy, clock }: FallbackCountersOptions): FallbackCounters {
  /** Under fail-open this process still counts. Its answer is overruled only while the store is known to be down. */
  const allowsAll = (): boolean => policy === 'fail-open' && link.everReady && !link.usable
  const takeAlone = (...args: Parameters<Counters['take']>): TakeResult | Promise<TakeResult> => {
    if (policy === 'fail-closed') return Promise.reject(refusal())
    const judged = (counted: TakeResult): TakeResult =>
      allowsAll() ? { ok: true, retryAfterMs: 0, degraded: true } : degraded(counted)
    const result = local.take(...args)
    return result instanceof Promise ? result.then(judged) : judged(result)
  }
  const acquireAlone = async (...args: Parameters<Counters['acquire']>): Promise<Lease> => {
    if (policy === 'fail-closed') throw refusal()
    const lease = degraded(await local.acquire(...args))
    return lease.ok || !allowsAll() ? lease : { ok: true, degraded: true, release: () => {} }
  }
  const debitAlone = (...args: Parameters<Counters['debit']>) => local.debit(...args).then(degraded)

  return {
    take(...args) {
      const asked = link.attempt(async () => shared.take(...args))
      return asked === null ? takeAlone(...args) : asked.catch(() => takeAlone(...args))
    },
    async debit(...args) {
      const asked = link.attempt(() => shared.debit(...args))
      return asked === null ? debitAlone(...args) : asked.catch(() => debitAlone(...args))
    },
    async inMinute(key) {
      const asked = link.attempt(async () => shared.inMinute(key))
      return asked === null ? local.inMinute(key) : asked.catch(() => local.inMinute(key))
    },
    async acquire(...args) {
      const asked = link.attempt(() => shared.acquire(...args))
      return asked === null ? acquireAlone(...args) : asked.catch(() => acquireAlone(...args))
    },
    async once(...args) {
      const asked = link.attempt(() => shared.once(...args))
      return asked === null ? local.once(...args) : asked.catch(() => local.once(...args))
    },
    async health() {
      const started = clock.monotonic()
      const ok = await (link.attempt((store) => store.ping()) ?? Promise.reject(new Error('away'))).then(
        () => true,
        () => false,
      )
      return {
        ok,
        latency_ms: ok ? Math.round((clock.monotonic() - started) * 100) / 100 : null,
        mode: link.usable ? link.name : 'local',
      }
    },
  }
}

function degraded<T extends { degraded: boolean }>(result: T): T {
  return { ...result, degraded: true }
}

function refusal(): GatewayError {
  return GatewayError.unavailable(
    'Limits cannot be checked: the shared store is unreachable and GATEWAY_LIMITER_REDIS_FALLBACK is fail-closed. Retry shortly.',
    { code: 'storage_unavailable', retryAfterMs: 5000 },
  )
}
