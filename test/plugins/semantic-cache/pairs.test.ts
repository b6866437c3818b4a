// The labelled set for measuring precision.
import { expect, it } from 'vitest'
import { labelledPairs } from '../../../bench/paraphrases/pairs.ts'

it('there are over 300, of both kinds, and no pair is its own opposite', () => {
  const pairs = labelledPairs()
  expect(pairs.length).toBeGreaterThanOrEqual(300)
  expect(pairs.filter(({ same }) => !same).length).toBeGreaterThan(150)
  for (const { a, b } of pairs) expect(a).not.toBe(b)
  const texts = pairs.map(({ a, b }) => `${a}\n${b}`)
  expect(new Set(texts).size).toBe(texts.length)
})
