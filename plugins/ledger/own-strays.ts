// Traces of this process's own whose request is over: the answer to a commit was lost, or a settlement was. Found by looking
// twice, so that what is just being settled is left alone.
import type { Clock } from '../../core/types/ports.ts'
import type { DispatchRow } from './dispatch.ts'

export interface OwnStraySources {
  readonly clock: Pick<Clock, 'now'>
  /** Oldest first, of this boot, from before an instant. */
  rows(before: number): Promise<readonly DispatchRow[]>
  /** Ids of requests that run. */
  living(): Iterable<string>
  /** It was refused, and never sent. */
  isUnsent(requestId: string): boolean
  release(row: DispatchRow): Promise<void>
  settle(row: DispatchRow): Promise<boolean>
}

/** A request that is younger may still be on its way to its first commit. */
const YOUNG_MS = 30_000

/** Returns how many were settled. */
export function ownStrays({ clock, rows, living, isUnsent, release, settle }: OwnStraySources): () => Promise<number> {
  let suspects: ReadonlySet<string> = new Set()
  return async () => {
    const found = await rows(clock.now() - YOUNG_MS)
    if (found.length === 0) return 0
    const alive = new Set(living())
    const over = found.filter(({ request_id }) => !alive.has(request_id))
    let settled = 0
    for (const row of over) {
      if (isUnsent(row.request_id)) await release(row)
      else if (suspects.has(row.request_id) && (await settle(row))) settled++
    }
    suspects = new Set(over.map(({ request_id }) => request_id))
    return settled
  }
}
