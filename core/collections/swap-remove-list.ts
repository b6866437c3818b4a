// An unordered collection with constant-time add and remove, for members that live as long as a request. It is not a Set: under constant
// churn a Set rebuilds its table again and again, and each old table points at the next one. Once one of them is promoted to the old
// generation, the young collector must keep every later member.

export interface Ticket<T> {
  readonly value: T
  /** Position in the list; -1 after removal. */
  index: number
}

export class SwapRemoveList<T> {
  readonly #tickets: Ticket<T>[] = []

  get size(): number {
    return this.#tickets.length
  }

  add(value: T): Ticket<T> {
    const ticket = { value, index: this.#tickets.length }
    this.#tickets.push(ticket)
    return ticket
  }

  remove(ticket: Ticket<T>): void {
    if (ticket.index < 0) return
    const last = this.#tickets.pop() as Ticket<T>
    if (last !== ticket) {
      this.#tickets[ticket.index] = last
      last.index = ticket.index
    }
    ticket.index = -1
  }

  /** Returns a snapshot: members may be added and removed while the caller iterates. */
  values(): T[] {
    return this.#tickets.map(({ value }) => value)
  }
}
