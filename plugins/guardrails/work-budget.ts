// When a long piece of work lets others go first.
import type { Clock } from '../../core/types/ports.ts'

const MAX_MS = 4
/** A clock that does not move, as in tests, is no reason never to yield. */
const MAX_STEPS = 32

export function workBudget(clock: Clock): () => boolean {
  let since = clock.monotonic()
  let steps = 0
  return () => {
    const now = clock.monotonic()
    if (++steps < MAX_STEPS && now - since < MAX_MS) return false
    since = now
    steps = 0
    return true
  }
}
