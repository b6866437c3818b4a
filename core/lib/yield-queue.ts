// YieldQueue of the event loop, one for each who asks. A large body takes milliseconds to check, and again to write anew: a hundred that
// came together would keep everybody else waiting for all of them.

/** Smaller bodies do not delay others noticeably, bytes. */
export const LARGE_BODY = 131_072

export class YieldQueue {
  #last: Promise<void> = Promise.resolve()

  /** Resolves in a turn of its own, after those who asked before. */
  next(): Promise<void> {
    this.#last = this.#last.then(() => new Promise((resolve) => setImmediate(resolve)))
    return this.#last
  }
}
