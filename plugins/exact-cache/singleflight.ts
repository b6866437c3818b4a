// Single flight: while one request is being answered, its equals wait for it instead of asking too. Within one process: between
// replicas a follower would have to poll the shared store, and a leader that died would hold it up for nothing.
import type { RequestContext } from '../../core/types/context.ts'
import type { Clock } from '../../core/types/ports.ts'
import type { KeptAnswer } from './kept-answer.ts'

/** How a flight ended: with an answer, without one (null), or because the leader's caller left. */
export type Landing = KeptAnswer | 'left' | null

export interface Flights {
  /** The flight of an equal request that asks already; undefined: there is none. */
  running(key: string): Promise<Landing> | undefined
  /** Returns the function that ends the flight; only its first call counts. */
  lead(key: string): (landing: Landing) => void
}

export function flights(): Flights {
  const open = new Map<string, Promise<Landing>>()
  return {
    running: (key) => open.get(key),
    lead(key) {
      let landed: (landing: Landing) => void = () => {}
      const flight = new Promise<Landing>((resolve) => {
        landed = resolve
      })
      open.set(key, flight)
      return (landing) => {
        if (open.get(key) === flight) open.delete(key)
        landed(landing)
      }
    },
  }
}

/** Timers hold no more, ms. */
const LONGEST_MS = 2 ** 31 - 1

/** null: it failed, took longer than `ms`, or the follower's caller has left. */
export function followed(flight: Promise<Landing>, ctx: RequestContext, clock: Clock, ms: number): Promise<Landing> {
  return new Promise((resolve) => {
    const { signal } = ctx
    const end = (landing: Landing): void => {
      timer.cancel()
      signal.removeEventListener('abort', left)
      resolve(landing)
    }
    const left = () => end(null)
    const timer = clock.timer(Math.min(ms, LONGEST_MS), left, true)
    if (signal.aborted) return left()
    signal.addEventListener('abort', left)
    void flight.then(end)
  })
}
