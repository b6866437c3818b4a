// The same work asked for while it is under way: one after the other, so that what was asked for last is done last.

export function serialize<A extends readonly unknown[]>(work: (...args: A) => Promise<void>): (...args: A) => Promise<void> {
  let last: Promise<void> = Promise.resolve()
  return (...args) => {
    const mine = last.then(() => work(...args))
    last = mine.catch(() => {})
    return mine
  }
}
