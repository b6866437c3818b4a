// A sliding window out of two fixed ones: what the previous window holds counts by the part of it that is still inside.
// All in whole numbers of ms and units, so that "allowed after retryAfterMs, not a ms sooner" is exact.

export interface SlidingWindow {
  /** Ms at which the current window began: the first event begins one. */
  start: number
  current: number
  previous: number
}

/** Moves the window on to `now`; an empty one begins now. A clock that stepped back leaves it where it is. */
export function roll(window: SlidingWindow, now: number, length: number): void {
  if (now >= window.start + length) {
    window.previous = now < window.start + 2 * length ? window.current : 0
    window.current = 0
    window.start += length
  }
  if (window.previous === 0 && window.current === 0) window.start = now
}

/**
 * Ms until `cost` fits under `cap`; 0 = now. A cost of 0 asks whether one unit would fit.
 * A cost above the cap fits into an empty window only; under a cap of 0 nothing ever fits.
 */
export function waitFor(window: SlidingWindow, now: number, length: number, cap: number, cost: number): number {
  if (cap <= 0) return length
  const { previous, current } = window
  const elapsed = Math.max(0, now - window.start)
  const room = Math.max(0, cap - Math.max(cost, 1) + 1)
  const used = previous * (length - 1 - elapsed) + current * length
  if (used < room * length || used === 0) return 0
  if (current < room || current === 0) return freeAt(previous, room - current, length) - elapsed
  return length - elapsed + freeAt(current, room, length)
}

/** The first ms of a window at which `previous` weighs less than `room`. */
function freeAt(previous: number, room: number, length: number): number {
  return Math.min(length - 1, Math.max(0, Math.floor(length - 1 - (room * length) / previous) + 1))
}
