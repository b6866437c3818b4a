// Collects what one turn of the event loop brings and runs it at the end of that turn, one after the other. The same code then runs for
// many requests in a row, so that caches of the processor hold it, and the promises of these requests take their steps together.

export class TurnQueue<Item> {
  readonly #run: (item: Item) => void
  #items: Item[] = []

  /** @param run an exception reaches the process as an uncaught one; the other items run all the same. */
  constructor(run: (item: Item) => void) {
    this.#run = run
  }

  add(item: Item): void {
    if (this.#items.push(item) === 1) setImmediate(this.#runAll)
  }

  readonly #runAll = (): void => {
    const items = this.#items
    this.#items = []
    let next = 0
    try {
      while (next < items.length) this.#run(items[next++] as Item)
    } finally {
      for (; next < items.length; next++) this.add(items[next] as Item)
    }
  }
}
