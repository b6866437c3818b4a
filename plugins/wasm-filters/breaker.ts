// Three timeouts within a minute and a filter is off for a minute: a thread that has to be ended costs more
// than the call it was in.
import type { Clock } from '../../core/types/ports.ts'

const TIMEOUTS = 3
const WINDOW_MS = 60_000
const OFF_MS = 60_000

export interface Breaker {
  readonly off: boolean
  /** True when this one switched it off. */
  timedOut(): boolean
}

export function breaker(clock: Clock): Breaker {
  let recent: number[] = []
  let offUntil = Number.NEGATIVE_INFINITY
  return {
    get off() {
      return clock.monotonic() < offUntil
    },
    timedOut() {
      const now = clock.monotonic()
      recent = [...recent.filter((at) => now - at < WINDOW_MS), now]
      if (recent.length < TIMEOUTS) return false
      recent = []
      offUntil = now + OFF_MS
      return true
    },
  }
}
