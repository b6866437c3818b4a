// Yields the event loop between large bodies, so that a burst of them cannot starve other requests. Checking a large body takes
// milliseconds, and rewriting it takes as long again.

/** Smaller bodies do not delay others noticeably, bytes. */
export const LARGE_BODY = 131_072

/** Larger requests are also parsed and translated in several turns, bytes. */
export const LARGE_REQUEST = 1_048_576

export interface Turns {
  /** Resolves in a later turn of the event loop. */
  next(): Promise<void>
}

export class YieldQueue implements Turns {
  #last: Promise<void> = Promise.resolve()

  /** Resolves in a turn of its own, after all earlier calls. */
  next(): Promise<void> {
    this.#last = this.#last.then(() => new Promise((resolve) => setImmediate(resolve)))
    return this.#last
  }
}
