// The order of the list that was last on the screen, so that a request on its own page has neighbours.

let order: readonly string[] = []

export function remember(ids: readonly string[]): void {
  order = ids
}

/** Returns the id of the next (1) or the previous (-1) request; undefined: there is none, or the list was never open. */
export function neighbourOf(id: string, by: 1 | -1): string | undefined {
  const at = order.indexOf(id)
  return at === -1 ? undefined : order[at + by]
}
