// The strategies as functions: draws, rotations and orders without a gateway around them.
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { estimatedCost } from '../../../plugins/virtual-models/strategies/cost.ts'
import { latencyTable } from '../../../plugins/virtual-models/strategies/latency-table.ts'
import { byLatency } from '../../../plugins/virtual-models/strategies/order.ts'
import { rotated } from '../../../plugins/virtual-models/strategies/rotation.ts'
import { drawn, probabilities } from '../../../plugins/virtual-models/strategies/weighted.ts'
import { seeded } from './support.ts'

const weighted = (...weights: number[]) => weights.map((weight, id) => ({ id, target: { weight } }))

describe('weighted', () => {
  it.each([
    [[1, 1], 7],
    [[70, 20, 10], 8],
    [[0.5, 0, 1.5, 2], 9],
    [[0, 0, 0], 10],
  ])('10,000 draws of %j keep to their shares', (weights, seed) => {
    const list = weighted(...weights)
    const random = seeded(seed)
    const counts = weights.map(() => 0)
    for (let i = 0; i < 10_000; i++) {
      const id = drawn(list, random)[0]?.id as number
      counts[id] = (counts[id] as number) + 1
    }
    for (const [id, share] of probabilities(list).entries())
      expect(Math.abs((counts[id] as number) / 10_000 - share), `${id}`).toBeLessThan(0.02)
  })

  it('property: everybody is in the order once, behind the drawn one by weight, and zero is never drawn first', () => {
    fc.assert(
      fc.property(
        fc.array(fc.double({ min: 0, max: 1e9, noNaN: true }), { minLength: 1, maxLength: 64 }),
        fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
        (weights, draw) => {
          const order = drawn(weighted(...weights), () => draw)
          expect(order.map(({ id }) => id).sort((a, b) => a - b)).toEqual(weights.map((_weight, id) => id))
          const rest = order.slice(1).map(({ target }) => target.weight)
          expect(rest).toEqual([...rest].sort((a, b) => b - a))
          if (weights.some((weight) => weight > 0)) expect(order[0]?.target.weight).toBeGreaterThan(0)
        },
      ),
      { seed: 3 },
    )
  })
})

describe('load_balance', () => {
  it('property: n turns over n give everybody the first place once', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 64 }), fc.nat(1e6), (size, start) => {
        const list = Array.from({ length: size }, (_one, index) => index)
        const firsts = list.map((turn) => rotated(list, start + turn)[0])
        expect(new Set(firsts).size).toBe(size)
      }),
    )
    expect(rotated([], 3)).toEqual([])
  })
})

describe('cost', () => {
  const price = { input: 2e9, output: 8e9, tiers: [{ above: 200_000, input: 4e9, output: 16e9 }] }
  it('counts input and output, and the tier a long prompt is in', () => {
    expect(estimatedCost({ price }, 1_000, 1_000)).toBe(1e7)
    expect(estimatedCost({ price }, 1_000_000, 0)).toBe(4e9)
    expect(estimatedCost({ price }, 0, null)).toBe((1024 * 8e9) / 1e6)
    expect(estimatedCost({ price, maxOutputTokens: 100 }, 0, null)).toBe((100 * 8e9) / 1e6)
  })
  it('is unknown where a price is missing, and zero where it is zero', () => {
    expect([estimatedCost({}, 1, 1), estimatedCost({ price: { input: 1 } }, 1, 1)]).toEqual([null, null])
    expect(estimatedCost({ price: { input: 0, output: 0 } }, 1, 1)).toBe(0)
  })
})

describe('latency', () => {
  it('is a moving average of each kind, forgotten after an hour', () => {
    let now = 0
    const table = latencyTable(() => now)
    table.answered('a/m', false, 100)
    table.answered('a/m', false, 200)
    table.answered('a/m', true, 10)
    expect(table.of('a/m', false)).toMatchObject({ ms: 130, samples: 2 })
    expect(table.any('a/m')).toMatchObject({ ms: 130 })
    expect(table.of('a/m', true)?.ms).toBe(10)
    now = 3_600_001
    expect(table.of('a/m', false)).toBeNull()
    table.answered('a/m', false, 50)
    expect(table.of('a/m', false)).toMatchObject({ ms: 50, samples: 1 })
  })

  it('a failure is twice as slow as the slowest answer, however many there were of whom', () => {
    const table = latencyTable(() => 0)
    for (const id of ['b/m', 'c/m', 'b/m', 'c/m']) table.failed(id, false)
    expect([table.of('b/m', false)?.ms, table.of('c/m', false)?.ms]).toEqual([10_000, 10_000])
    table.answered('a/m', false, 80_000)
    for (let i = 0; i < 100; i++) table.failed('b/m', false)
    expect(table.of('b/m', false)?.ms).toBeCloseTo(160_000, 0)
    expect([table.failureRate('a/m'), table.failureRate('b/m')]).toEqual([0, expect.closeTo(1)])
    table.answered('c/m', false, 100)
    expect(table.of('c/m', false)?.ms).toBeCloseTo(7030)
  })

  it('puts who was not measured first, and takes turns within the buffer', () => {
    const ms: Record<string, number | null> = { a: 100, b: 105, c: null, d: 300 }
    const order = (buffer: number, turn = 0) =>
      byLatency(
        ['d', 'a', 'b', 'c'],
        (one) => ms[one] ?? null,
        buffer,
        () => turn,
      ).join('')
    expect([order(0), order(0.1), order(0.1, 1), order(0.1, 2)]).toEqual(['cabd', 'cabd', 'abcd', 'bcad'])
    expect(
      byLatency(
        ['x', 'y'],
        () => null,
        0,
        () => 1,
      ),
    ).toEqual(['x', 'y'])
  })
})
