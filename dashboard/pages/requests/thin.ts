// Keeps a fast stream readable: above a number of events a second only each n-th is shown.

export interface Thinner {
  /** Returns true when the event that comes now is shown. @param now epoch ms */
  shows(now: number): boolean
  /** Of how many events one is shown now. */
  readonly every: number
}

const SECOND = 1000

export function thinner(most: number): Thinner {
  let second = 0
  let inSecond = 0
  let every = 1
  let turn = 0
  return {
    get every() {
      return every
    },
    shows(now) {
      if (now - second >= SECOND) {
        // The rate of the last second holds for the next one; after a pause every event is shown again.
        every = now - second < 2 * SECOND ? Math.max(1, Math.ceil(inSecond / most)) : 1
        second = now
        inSecond = 0
        turn = 0
      }
      inSecond++
      // A burst is thinned before its second has ended.
      every = Math.max(every, Math.ceil(inSecond / most))
      return turn++ % every === 0
    },
  }
}
