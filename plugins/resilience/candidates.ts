// Removes accounts that must not be called now. A healthy account costs one look-up. When none would be left, circuits that allow an early
// probe stay.
import type { Candidate, RequestContext } from '../../core/types/context.ts'
import type { Clock } from '../../core/types/ports.ts'
import type { AccountBook } from './account-book.ts'
import type { Block } from './account-state.ts'
import type { EarlyProbes } from './early-probes.ts'
import { isTest } from './own-test.ts'
import { refusalOf } from './refusals.ts'

export interface CandidatesParts {
  book: AccountBook
  clock: Clock
  early: EarlyProbes
  /** True for a candidate that the quota hook will remove later. */
  usedUp(candidate: Candidate): boolean
}

export function candidatesHook({
  book,
  clock,
  early,
  usedUp,
}: CandidatesParts): (ctx: RequestContext, candidates: Candidate[]) => Candidate[] {
  return (ctx, candidates) => {
    if (candidates.every(({ connection }) => book.of(connection.id).quiet) || isTest(ctx)) return candidates
    const now = clock.monotonic()
    const blocks = new Map<Candidate, Block>()
    for (const candidate of candidates) {
      const { connection, target } = candidate
      const block = book.of(connection.id).blocked(connection, target.model, now)
      if (block !== null) blocks.set(candidate, block)
    }
    // A probe that is due may fail as well as one that is not.
    const closed = ({ connection }: Candidate): boolean => book.of(connection.id).breaker.closed
    const nobody = !candidates.some((candidate) => !blocks.has(candidate) && closed(candidate) && !usedUp(candidate))
    const looked = new Set(nobody ? early.among(ctx, candidates, now) : [])
    const kept = candidates.filter((candidate) => !blocks.has(candidate) || looked.has(candidate))
    for (const [candidate, block] of blocks) {
      if (looked.has(candidate)) continue
      ctx.skip(candidate, block.reason, block.until === null ? undefined : clock.now() + Math.ceil(block.until - now))
    }
    const refusal = kept.length === 0 ? refusalOf([...blocks.values()], now) : null
    if (refusal !== null) throw refusal
    return kept
  }
}
