// The list of live requests under many events.
import { expect, it } from 'vitest'
import { thinner } from '../../dashboard/pages/requests/thin.ts'

/** Sends events evenly over seconds. Returns how many of each second are shown. */
function shown(perSecond: readonly number[]): number[] {
  const thin = thinner(200)
  return perSecond.map((events, second) => {
    let count = 0
    for (let at = 0; at < events; at++) if (thin.shows(1_000_000 + second * 1000 + Math.floor((at * 1000) / events))) count++
    return count
  })
}

it('shows every event up to the limit', () => {
  expect(shown([1, 50, 200])).toEqual([1, 50, 200])
})

it('shows one of n above the limit, and all again afterwards', () => {
  const [, second, third, , last] = shown([1000, 1000, 1000, 10, 10])
  expect(second).toBe(200)
  expect(third).toBe(200)
  expect(last).toBe(10)
})

it('thins a burst before its second has ended', () => {
  expect(shown([5000])[0]).toBeLessThan(1000)
})

it('says of how many one is shown', () => {
  const thin = thinner(200)
  for (let at = 0; at < 1000; at++) thin.shows(at)
  thin.shows(1000)
  expect(thin.every).toBe(5)
})
