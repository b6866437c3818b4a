// An unordered collection with constant-time add and remove, for members that come and go with every request.
// Not a Set: a Set under constant churn rebuilds its table again and again, each old table keeps pointing at the next one,
// and once one of them has been promoted the young collector drags every later member along.

export interface Ticket<T> {
  readonly value: T
  /** Position in the bag; -1 when it has left. */
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

  /** A snapshot: members may come and go while it is walked. */
  values(): T[] {
    return this.#tickets.map(({ value }) => value)
  }
}
