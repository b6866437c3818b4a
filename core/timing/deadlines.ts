// Deadlines of work that nearly always ends in time. One timer looks at all of them each second, so that starting and ending one costs no
// timer of its own.
import { SwapRemoveList } from '../collections/swap-remove-list.ts'
import type { Clock } from '../types/ports/ports.ts'

const LOOK_MS = 1000

interface Deadline {
  /** Monotonic ms. */
  readonly at: number
  passed(): void
}

export class Deadlines {
  readonly #clock: Clock
  readonly #open = new SwapRemoveList<Deadline>()
  #looking = false

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Rejects when the promise has not settled after `ms`, at most a second later. */
  async within<T>(promise: PromiseLike<T>, ms: number): Promise<T> {
    let passed: () => void = () => {}
    const late = new Promise<never>((_, reject) => {
      passed = () => reject(new Error(`timed out after ${ms} ms`))
    })
    const ticket = this.#open.add({ at: this.#clock.monotonic() + ms, passed })
    this.#look()
    try {
      return await Promise.race([promise, late])
    } finally {
      this.#open.remove(ticket)
    }
  }

  #look(): void {
    if (this.#looking) return
    this.#looking = true
    this.#clock.timer(
      LOOK_MS,
      () => {
        const now = this.#clock.monotonic()
        for (const { at, passed } of this.#open.values()) if (now >= at) passed()
        this.#looking = false
        if (this.#open.size > 0) this.#look()
      },
      true,
    )
  }
}
