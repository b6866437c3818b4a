// Single flight: while one request is being answered, its equals wait for it instead of asking too. Within one process: between
// replicas a follower would have to poll the shared store, and a leader that died would hold it up for nothing.
import type { RequestContext } from '../../core/types/context.ts'
import type { Clock } from '../../core/types/ports.ts'
import type { KeptAnswer } from './kept-answer.ts'

export interface Flights {
  /** The answer of who asks already, null when it got none; undefined: nobody does. */
  running(key: string): Promise<KeptAnswer | null> | undefined
  /** Returns what ends it, with the answer or without; only the first call counts. */
  lead(key: string): (answer: KeptAnswer | null) => void
}

export function flights(): Flights {
  const open = new Map<string, Promise<KeptAnswer | null>>()
  return {
    running: (key) => open.get(key),
    lead(key) {
      let landed: (answer: KeptAnswer | null) => void = () => {}
      const flight = new Promise<KeptAnswer | null>((resolve) => {
        landed = resolve
      })
      open.set(key, flight)
      return (answer) => {
        if (open.get(key) === flight) open.delete(key)
        landed(answer)
      }
    },
  }
}

/** Timers hold no more, ms. */
const LONGEST_MS = 2 ** 31 - 1

/** null: it failed, took longer than `ms`, or the follower's caller has left. */
export function followed(
  flight: Promise<KeptAnswer | null>,
  ctx: RequestContext,
  clock: Clock,
  ms: number,
): Promise<KeptAnswer | null> {
  return new Promise((resolve) => {
    const { signal } = ctx
    const end = (answer: KeptAnswer | null): void => {
      timer.cancel()
      signal.removeEventListener('abort', left)
      resolve(answer)
    }
    const left = () => end(null)
    const timer = clock.timer(Math.min(ms, LONGEST_MS), left, true)
    if (signal.aborted) return left()
    signal.addEventListener('abort', left)
    void flight.then(end)
  })
}
