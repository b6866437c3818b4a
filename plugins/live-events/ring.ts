// Stores the last events of one organization with numbers. Their text is formatted on the first read, once for all readers.
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

  /** @param first number of the first event; it must be higher than any earlier number of this organization. */
  constructor(size: number, first: number) {
    this.#size = size
    this.#first = first
    this.#next = first
  }

  /** Number of the next event. */
  get next(): number {
    return this.#next
  }

  /** Number of the oldest stored event. */
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

  /** Returns the SSE frame of a stored event. */
  frame(number: number): string {
    const kept = this.#kept[number % this.#size] as Kept
    kept.frame ??= `id: ${number}\nevent: request\ndata: ${JSON.stringify(eventOf(kept.settled))}\n\n`
    return kept.frame
  }
}
