// Leaves out accounts that are not to be asked now. A healthy account costs one look-up.
import type { Candidate, RequestContext } from '../../core/types/context.ts'
import type { Clock } from '../../core/types/ports.ts'
import type { AccountBook } from './account-book.ts'
import type { Block } from './account-state.ts'
import { refusalOf } from './refusals.ts'
import { isTest } from './request-root.ts'

/** @param skipped is told of each candidate that is left out. */
export function candidatesHook(
  book: AccountBook,
  clock: Clock,
  skipped: (candidate: Candidate, block: Block) => void,
): (ctx: RequestContext, candidates: Candidate[]) => Candidate[] {
  return (ctx, candidates) => {
    if (candidates.every(({ connection }) => book.of(connection.id).quiet) || isTest(ctx)) return candidates
    const now = clock.monotonic()
    const blocks: Block[] = []
    const kept = candidates.filter((candidate) => {
      const { connection, target } = candidate
      const block = book.of(connection.id).blocked(connection, target.model, now)
      if (block === null) return true
      blocks.push(block)
      ctx.skip(candidate, block.reason, block.until === null ? undefined : clock.now() + Math.ceil(block.until - now))
      skipped(candidate, block)
      return false
    })
    const refusal = kept.length === 0 ? refusalOf(blocks, now) : null
    if (refusal !== null) throw refusal
    return kept
  }
}
