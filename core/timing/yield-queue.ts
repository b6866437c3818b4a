// Yields the event loop between large bodies, so that a burst of them cannot starve other requests. Checking a large body takes
// milliseconds, and rewriting it takes as long again.

/** Smaller bodies do not delay others noticeably, bytes. */
export const LARGE_BODY = 131_072

export class YieldQueue {
  #last: Promise<void> = Promise.resolve()

  /** Resolves in a turn of its own, after all earlier calls. */
  next(): Promise<void> {
    this.#last = this.#last.then(() => new Promise((resolve) => setImmediate(resolve)))
    return this.#last
  }
}
