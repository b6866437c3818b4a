// Single flight between the workers of one address: one of them answers, and the others find its answer in the shared store.

import type { Clock } from '../../core/types/ports/ports.ts'
import type { Siblings } from '../../core/types/ports/siblings.ts'
import type { RequestContext } from '../../core/types/request/context.ts'
import { followed } from './singleflight.ts'

/** `kept`: the answer is in the shared store. `none`: there is none, and each request calls upstream itself. `left`: the caller left. */
export type Outcome = 'kept' | 'none' | 'left'

/** Ends this worker's turn; only the first call has an effect. */
export type EndTurn = (outcome: Outcome) => void

export interface WorkerFlights {
  /**
   * Waits while another worker answers an equal request, at most `ms`. Resolves to the end of this worker's turn; or to null, when
   * `found` returned true or the other worker's request failed.
   * @param found looks into the shared store.
   */
  turn(key: string, ctx: RequestContext, ms: number, found: () => Promise<boolean>): Promise<EndTurn | null>
}

export function workerFlights(siblings: Pick<Siblings, 'claim'>, clock: Clock): WorkerFlights {
  return {
    async turn(key, ctx, ms, found) {
      for (;;) {
        const claim = await siblings.claim(`exact-cache:${key}`)
        if (claim.held) return claim.end
        const outcome = await followed(claim.ended, ctx, clock, ms)
        if (ctx.signal.aborted) throw ctx.signal.reason
        if (outcome === 'kept' && (await found())) return null
        // The holder's caller left, or its worker died: one of those that wait is next.
        if (outcome !== 'left') return null
      }
    },
  }
}
