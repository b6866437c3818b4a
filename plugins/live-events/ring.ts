// The last events of one organization, numbered. Their text is formatted on the first read, once for all readers.
import { eventOf, type Settled } from './payload.ts'

interface Kept {
  readonly settled: Settled
  frame: string | null
}

export class Ring {
  readonly #size: number
  readonly #first: number
  readonly #kept: Kept[] = []
  #next: number

  /** @param first number of the first event: higher than any earlier number under this name. */
  constructor(size: number, first: number) {
    this.#size = size
    this.#first = first
    this.#next = first
  }

  /** Number of the next event. */
  get next(): number {
    return this.#next
  }

  /** Number of the oldest event that is kept. */
  get oldest(): number {
    return Math.max(this.#first, this.#next - this.#size)
  }

  /** Whether this process assigned the number to an event. */
  gave(number: number): boolean {
    return number >= this.#first && number < this.#next
  }

  push(settled: Settled): void {
    this.#kept[this.#next % this.#size] = { settled, frame: null }
    this.#next++
  }

  /** The SSE frame of an event that is kept. */
  frame(number: number): string {
    const kept = this.#kept[number % this.#size] as Kept
    kept.frame ??= `id: ${number}\nevent: request\ndata: ${JSON.stringify(eventOf(kept.settled))}\n\n`
    return kept.frame
  }
}
