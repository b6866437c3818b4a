// Budgets grouped by what they limit. A request may still use a group after a change, so a change replaces the group's list.
import type { Budget } from './service.ts'

export class Groups<K> {
  readonly #groups = new Map<K, readonly Budget[]>()

  get size(): number {
    return this.#groups.size
  }

  /** Returns the budgets of one group, the oldest first. */
  get(key: K): readonly Budget[] | undefined {
    return this.#groups.get(key)
  }

  /** @param by 1 adds the budget, -1 removes it. */
  change(key: K, budget: Budget, by: 1 | -1): void {
    const others = (this.#groups.get(key) ?? []).filter(({ id }) => id !== budget.id)
    if (by === 1) others.push(budget)
    if (others.length === 0) this.#groups.delete(key)
    else
      this.#groups.set(
        key,
        others.sort((a, b) => a.id - b.id),
      )
  }
}
