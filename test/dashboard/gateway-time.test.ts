// How the dashboard learns the time of the gateway from the dates of its answers.
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type Ahead, aheadBy, middle, narrowed } from '../../dashboard/api/gateway-time.ts'

const NOON = Date.UTC(2026, 10, 26, 12)

/** Returns the bounds from one answer. The gateway's clock is `ahead` of the browser's, and `out` and `back` are the times on the way, ms. */
function answer(ahead: number, sentAt: number, out: number, back: number): Ahead {
  const written = new Date(sentAt + out + ahead).toUTCString()
  return aheadBy(written, sentAt, sentAt + out + back) as Ahead
}

describe('the time of the gateway', () => {
  it('is known to half a second and half of the fastest call, however wrong the browser is', () => {
    const call = fc.record({ pause: fc.nat(100_000), out: fc.nat(9000), back: fc.nat(9000) })
    fc.assert(
      fc.property(fc.integer({ min: -1e10, max: 1e10 }), fc.array(call, { minLength: 1, maxLength: 20 }), (ahead, calls) => {
        let bounds: Ahead | null = null
        let at = NOON
        for (const { pause, out, back } of calls) {
          at += pause
          bounds = narrowed(bounds, answer(ahead, at, out, back))
          at += out + back
        }
        const { least, most } = bounds as Ahead
        const fastest = Math.min(...calls.map(({ out, back }) => out + back))
        expect(least).toBeLessThanOrEqual(ahead)
        expect(most).toBeGreaterThanOrEqual(ahead)
        expect(most - least).toBeLessThanOrEqual(1000 + fastest)
        const wrong = Math.abs(middle(bounds as Ahead) - ahead)
        expect(wrong).toBeLessThanOrEqual(least <= 0 && most >= 0 ? 1000 + fastest : (1001 + fastest) / 2)
      }),
    )
  })

  it('is the browser’s where both may be right', () => {
    expect(middle(answer(0, NOON + 300, 2, 3))).toBe(0)
    expect(middle(answer(400, NOON + 300, 2, 3))).toBe(0)
  })

  it('begins anew after one of the clocks was set', () => {
    const before = narrowed(answer(60_000, NOON, 5, 5), answer(60_000, NOON + 5300, 5, 5))
    const after = answer(-60_000, NOON + 9000, 5, 5)
    expect(narrowed(before, after)).toEqual(after)
    expect(middle(after)).toBeLessThan(-59_000)
  })

  it.each([null, '', 'soon'])('is not told by the date %j', (date) => {
    expect(aheadBy(date, NOON, NOON + 10)).toBeNull()
  })
})
