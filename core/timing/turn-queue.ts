// Collects what one turn of the event loop brings and runs it at the end of that turn, one item after the other. The same code then runs
// for many requests in a row, so that caches of the processor hold it, and the promises of these requests take their steps together.

/** Items run in groups that take about this long, ms. An answer waits for its group, and overload is seen between two groups. */
const GROUP_MS = 5
const FIRST_GROUP = 8
const MOST = 256

export class TurnQueue<Item> {
  readonly #run: (item: Item) => void
  readonly #now: () => number
  /** The group that still takes items. */
  #open: Item[] | null = null
  /** Items of a group. */
  #most = FIRST_GROUP
  #ran = 0
  #startedAt = 0

  /**
   * @param run an exception reaches the process as an uncaught one; the other items run all the same.
   * @param now ms; default: the clock of the process.
   */
  constructor(run: (item: Item) => void, now: () => number = () => performance.now()) {
    this.#run = run
    this.#now = now
  }

  add(item: Item): void {
    if (this.#open !== null && this.#open.length < this.#most) {
      this.#open.push(item)
      return
    }
    this.#begin([item])
  }

  /** The second function runs when the promises of the first one have taken all their steps. */
  #begin(group: Item[]): void {
    this.#open = group
    setImmediate(this.#runGroup, group)
    setImmediate(this.#measure)
  }

  readonly #runGroup = (group: Item[]): void => {
    if (group === this.#open) this.#open = null
    this.#startedAt = this.#now()
    this.#ran = group.length
    let next = 0
    try {
      while (next < group.length) this.#run(group[next++] as Item)
    } finally {
      if (next < group.length) this.#begin(group.slice(next))
    }
  }

  readonly #measure = (): void => {
    const each = (this.#now() - this.#startedAt) / this.#ran
    this.#most = Math.max(1, Math.min(Math.floor(GROUP_MS / each), 2 * this.#most, MOST))
  }
}
