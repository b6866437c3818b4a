// Stores the last events of one organization with numbers. Their text is formatted on the first read, once for all readers.
import { eventOf, type Settled } from './payload.ts'
import type { Changed } from './state-events.ts'

/** An event of any worker, in the shape that readers get. */
export interface Relayed {
  readonly event: 'relayed'
  readonly name: 'request' | 'state'
  readonly orgId: number | null
  readonly data: unknown
}

/** An event before formatting. */
export type Told = Settled | Changed | Relayed

/** The event's name and content, as readers get them. */
export function shown(told: Told): { readonly name: 'request' | 'state'; readonly data: unknown } {
  if (told.event === 'relayed') return told
  return { name: told.event, data: told.event === 'request' ? eventOf(told) : told.data }
}

interface Kept {
  readonly told: Told
  frame: string | null
}

export class Ring {
  readonly #size: number
  #first: number
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

  /** @param number of the event, where another process numbers them. */
  push(told: Told, number = this.#next): void {
    // Events in between were lost: the numbers before it are unknown here.
    if (number !== this.#next) this.#first = number
    this.#next = number
    this.#kept[this.#next % this.#size] = { told, frame: null }
    this.#next++
  }

  /** Returns the SSE frame of a stored event. */
  frame(number: number): string {
    const kept = this.#kept[number % this.#size] as Kept
    kept.frame ??= frameOf(number, kept.told)
    return kept.frame
  }
}

function frameOf(number: number, told: Told): string {
  const { name, data } = shown(told)
  return `id: ${number}\nevent: ${name}\ndata: ${JSON.stringify(data)}\n\n`
}
