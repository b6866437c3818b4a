// Probes an open circuit early when a request has no other account, instead of refusing it for half a minute while the upstream may be
// back. Never during a cooldown or lock; one request per circuit at a time over all processes; a minimum time after the last probe. A
// failed probe leaves the opening time unchanged.
import type { Candidate, RequestContext, Slot } from '../../../core/types/request/context.ts'
import type { AccountBook } from '../accounts/account-book.ts'
import { lockName } from '../request/lock-name.ts'

/** After this time a request probes no further circuit: its caller has already waited for one without an answer. */
const PATIENCE_MS = 2000

export interface EarlyProbes {
  /** When all candidates are blocked: returns those whose circuits this request may probe. */
  among(ctx: RequestContext, candidates: readonly Candidate[], now: number): Candidate[]
  /** Returns the minimum time since the last probe, ms; null: the request has another account, or has waited long enough. */
  everyMs(ctx: RequestContext, now: number): number | null
}

export interface EarlyProbesOptions {
  book: AccountBook
  /** Monotonic ms at which a request found no available account. */
  since: Slot<number>
  /** Returns ms; 0 = never. */
  everyMs(): number
}

export function earlyProbes({ book, since, everyMs }: EarlyProbesOptions): EarlyProbes {
  return {
    among(ctx, candidates, now) {
      const every = everyMs()
      if (every === 0) return []
      const found = candidates.filter(({ connection, target }) =>
        book.of(connection.id).admitsEarly(connection, lockName(ctx, target.model), now, every),
      )
      if (found.length > 0) since.set(ctx, now)
      return found
    },
    everyMs(ctx, now) {
      const found = since.get(ctx)
      const every = everyMs()
      return found === undefined || every === 0 || now - found > PATIENCE_MS ? null : every
    },
  }
}
