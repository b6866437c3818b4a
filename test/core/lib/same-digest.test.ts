import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { sameDigest } from '../../../core/ids/same-digest.ts'
import { expectWithin } from '../../support/in-time.ts'

describe('sameDigest', () => {
  it('is equality', () => {
    fc.assert(fc.property(fc.string(), fc.string(), (a, b) => sameDigest(a, b) === (a === b)))
    fc.assert(fc.property(fc.string(), (a) => sameDigest(a, `${a}`)))
    expect(sameDigest('ab', 'a')).toBe(false)
  })

  it('takes as long for a difference at the start as for one at the end or none', async () => {
    const expected = '7f'.repeat(32)
    // A real difference would be there each time.
    await expectWithin(4.5, () => Math.abs(timingT(expected, sameDigest)))
  })

  it('would be told from a comparison that stops early by the same test', () => {
    const early = (a: string, b: string): boolean => {
      for (let i = 0; i < a.length; i++) if (a.charCodeAt(i) !== b.charCodeAt(i)) return false
      return true
    }
    // Once is sufficient, because a busy machine hides it.
    const seen = () => Math.abs(timingT('7f'.repeat(32), early)) > 4.5
    expect([1, 2, 3, 4, 5].some(seen)).toBe(true)
  })
})

/** Returns Welch's t between two kinds of input in random order, 1e5 samples, without the slowest tenth (interruptions). */
function timingT(expected: string, compare: (a: string, b: string) => boolean): number {
  const inputs = [`0${expected.slice(1)}`, `${expected.slice(0, -1)}0`]
  const samples: [number[], number[]] = [[], []]
  let state = 1
  let equal = 0
  for (let i = 0; i < 110_000; i++) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    const kind = (state >>> 16) & 1
    const input = inputs[kind] as string
    const started = process.hrtime.bigint()
    for (let repeat = 0; repeat < 8; repeat++) if (compare(input, expected)) equal++
    const took = Number(process.hrtime.bigint() - started)
    if (i >= 10_000) samples[kind as 0 | 1].push(took)
  }
  expect(equal).toBe(0)
  const limit = [...samples[0], ...samples[1]].sort((a, b) => a - b)[90_000] as number
  const [one, two] = samples.map((all) => spread(all.filter((took) => took <= limit))) as [Spread, Spread]
  return (one.mean - two.mean) / Math.sqrt(one.variance / one.count + two.variance / two.count)
}

interface Spread {
  mean: number
  variance: number
  count: number
}

function spread(values: number[]): Spread {
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length
  const variance = values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / (values.length - 1)
  return { mean, variance, count: values.length }
}
