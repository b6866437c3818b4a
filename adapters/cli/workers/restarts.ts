// How long a place waits for its next worker: not at all after a worker that lived, and longer each time when workers die at once.

/** A worker that lived this long did not fail at its start. */
const LIVED_MS = 30_000
const FIRST_MS = 100
const LONGEST_MS = 30_000

export interface Restarts {
  /** Returns the ms to wait. @param livedMs how long the worker lived. */
  after(livedMs: number): number
}

export function restarts(): Restarts {
  let failures = 0
  return {
    after(livedMs) {
      if (livedMs >= LIVED_MS) failures = 0
      const wait = failures === 0 ? 0 : Math.min(LONGEST_MS, FIRST_MS * 2 ** (failures - 1))
      failures++
      return wait
    },
  }
}
