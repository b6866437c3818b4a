// Runs calls to `work` one at a time, in call order.

export function serialize<A extends readonly unknown[]>(work: (...args: A) => Promise<void>): (...args: A) => Promise<void> {
  let last: Promise<void> = Promise.resolve()
  return (...args) => {
    const mine = last.then(() => work(...args))
    last = mine.catch(() => {})
    return mine
  }
}
