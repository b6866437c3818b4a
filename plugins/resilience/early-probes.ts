// A look at open circuits before their time, by a request that has nobody else to ask: better than refusing it for half a
// minute when an upstream is back already. Never during a cooldown or lock, one request for each circuit at a time over all
// processes, some time after the last look at it. What fails then leaves the circuit open for as long as it was.
import type { Candidate, RequestContext, Slot } from '../../core/types/context.ts'
import type { AccountBook } from './account-book.ts'

/** From then on a request looks at no further circuit: its caller has waited for one that did not answer. */
const PATIENCE_MS = 2000

export interface EarlyProbes {
  /** Of candidates that are all kept out: those whose circuits this request may look at. */
  among(ctx: RequestContext, candidates: readonly Candidate[], now: number): Candidate[]
  /** How long nobody may have looked, ms; null: this request has somebody else to ask, or has waited long enough. */
  everyMs(ctx: RequestContext, now: number): number | null
}

export interface EarlyProbesOptions {
  book: AccountBook
  /** Monotonic ms at which a request found that nobody is left. */
  since: Slot<number>
  /** 0 = never. */
  everyMs(): number
}

export function earlyProbes({ book, since, everyMs }: EarlyProbesOptions): EarlyProbes {
  return {
    among(ctx, candidates, now) {
      const every = everyMs()
      if (every === 0) return []
      const found = candidates.filter(({ connection, target }) =>
        book.of(connection.id).admitsEarly(connection, target.model, now, every),
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
