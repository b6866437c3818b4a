// Single flight: while one request is being answered, equal ones wait for its answer. It works within one process, and between the workers
// of one address. Between replicas a follower would have to poll the shared store, and would wait in vain for a leader that crashed.

import type { Clock } from '../../core/types/ports/ports.ts'
import type { RequestContext } from '../../core/types/request/context.ts'
import type { KeptAnswer } from './kept-answer.ts'

/** How a flight ended: with an answer, without one (null), or because the leader's caller left. */
export type Landing = KeptAnswer | 'left' | null

export interface Flights {
  /** Returns the flight of an equal running request; undefined: there is none. */
  running(key: string): Promise<Landing> | undefined
  /** Returns the function that ends the flight; only its first call has an effect. */
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

/** Longest delay of a timer, ms. */
const LONGEST_MS = 2 ** 31 - 1

/** Resolves to null when the leader failed, took longer than `ms`, or the follower's caller left. */
export function followed<T>(flight: Promise<T>, ctx: RequestContext, clock: Clock, ms: number): Promise<T | null> {
  return new Promise((resolve) => {
    const { signal } = ctx
    const end = (landing: T | null): void => {
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
