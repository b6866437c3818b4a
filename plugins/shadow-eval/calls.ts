// The calls of a replay: the challenger, the judge and the embedder. They are settled under the source `shadow`.
import { GatewayError } from '../../core/errors/gateway-error.ts'
import { REPLAY_SOURCE } from '../../core/records/replays.ts'
import type { PluginGateway } from '../../core/types/plugin/plugin.ts'
import type { CanonicalRequest } from '../../core/types/request/canonical.ts'
import type { Target } from '../../core/types/request/context.ts'
import { type Answer, answerOf } from './sample.ts'

const TIMEOUT_MS = 120_000

export interface Replied {
  /** null: the call failed, or its answer cannot be compared. */
  readonly answer: Answer | null
  readonly error: GatewayError | null
  /** Nano-USD as booked; 0 when no price is known. */
  readonly costNano: number
  readonly latencyMs: number
}

export interface ReplayCalls {
  /** Returns whether an account of the target may be asked now. */
  available(orgId: number | null, target: Target, request: CanonicalRequest): boolean
  /** Never rejects. */
  ask(orgId: number | null, target: Target, request: CanonicalRequest, signal: AbortSignal): Promise<Replied>
}

export function replayCalls(gateway: PluginGateway): ReplayCalls {
  const { clock } = gateway
  const preview = gateway.use('routePreview')
  return {
    available: (orgId, target, request) =>
      preview.first(orgId, { targets: [target], strategy: 'direct', virtualModel: null }, request) !== null,
    async ask(orgId, target, request, signal) {
      const ending = new AbortController()
      const stop = () => ending.abort()
      const timer = clock.timer(TIMEOUT_MS, stop, true)
      signal.addEventListener('abort', stop, { once: true })
      if (signal.aborted) stop()
      let costNano = 0
      let latencyMs = 0
      try {
        const result = await gateway.invoke(
          { ...request, model: `${target.provider}/${target.model}` },
          {
            operation: 'chat',
            source: REPLAY_SOURCE,
            target,
            orgId,
            signal: ending.signal,
            settled(outcome) {
              costNano = outcome.costNano ?? 0
              latencyMs = Math.round(outcome.latencyMs)
            },
          },
        )
        if (result.kind !== 'full') throw GatewayError.protocol('A replay was answered with a stream.')
        return { answer: answerOf(result.response as Parameters<typeof answerOf>[0]), error: null, costNano, latencyMs }
      } catch (thrown) {
        return { answer: null, error: GatewayError.from(thrown), costNano, latencyMs }
      } finally {
        timer.cancel()
        signal.removeEventListener('abort', stop)
      }
    },
  }
}
