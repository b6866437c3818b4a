// A mutex: one holder at a time, in order of arrival.
export class Mutex {
  #held = false
  readonly #waiting: (() => void)[] = []

  get open(): boolean {
    return !this.#held
  }

  async hold<T>(fn: () => Promise<T>): Promise<T> {
    // The lock stays held while it is passed on, so that no other caller can take it in between.
    if (this.#held) await new Promise<void>((resolve) => this.#waiting.push(resolve))
    else this.#held = true
    try {
      return await fn()
    } finally {
      const next = this.#waiting.shift()
      if (next === undefined) this.#held = false
      else next()
    }
  }
}
