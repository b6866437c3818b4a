// The counters of one process: the contract of every driver, and their arithmetic compared with a plain log of events.
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { countersContract } from '../../../adapters/testing/contracts/counters-contract.ts'
import { fakeClock } from '../../../adapters/testing/fake-clock.ts'
import { memoryCounters, roll, type SlidingWindow, waitFor } from '../../../core/counters/memory.ts'

describe('memory counters', () => {
  const open = async () => {
    const clock = fakeClock()
    return { instances: [memoryCounters(clock)], advance: (ms: number) => clock.advance(ms), crash() {}, async close() {} }
  }
  for (const { name, run } of countersContract('memory', open)) it(name, run)

  it('answers take without a promise: it is on the way of every request', () => {
    const counters = memoryCounters(fakeClock())
    expect(counters.take('key', { perMinute: 1 })).toEqual({ ok: true, retryAfterMs: 0, degraded: false })
    expect(counters.take('key', { perMinute: 1, burst: 1 })).toEqual({ ok: true, retryAfterMs: 0, degraded: false })
  })

  it('is not moved by a wall clock that is set', async () => {
    const clock = fakeClock()
    const skewed = { ...clock, now: () => clock.now() - 86_400_000 * Math.round(clock.monotonic() / 1000) }
    const counters = memoryCounters(skewed)
    await counters.take('key', { perMinute: 1 })
    await clock.advance(59_999)
    expect(await counters.take('key', { perMinute: 1 })).toMatchObject({ ok: false, retryAfterMs: 1 })
  })
})

describe('the sliding window', () => {
  const steps = fc.array(fc.tuple(fc.integer({ min: 0, max: 40_000 }), fc.integer({ min: 1, max: 4 })), { maxLength: 80 })

  it('never holds more than the cap in a window, and at most twice the cap in any 60 s', () => {
    fc.assert(
      fc.property(fc.integer({ min: 4, max: 30 }), steps, (cap, moves) => {
        const window: SlidingWindow = { start: 0, current: 0, previous: 0 }
        const events: { at: number; cost: number }[] = []
        let now = 0
        for (const [gap, cost] of moves) {
          now += gap
          roll(window, now, 60_000)
          if (waitFor(window, now, 60_000, cap, cost) > 0) continue
          window.current += cost
          events.push({ at: now, cost })
          expect(window.current).toBeLessThanOrEqual(cap)
          const lastMinute = events.filter(({ at }) => at > now - 60_000).reduce((sum, event) => sum + event.cost, 0)
          expect(lastMinute).toBeLessThanOrEqual(2 * cap)
        }
      }),
    )
  })

  it('says the first ms at which a refused cost fits', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 2000 }),
        fc.nat(5000),
        fc.nat(5000),
        fc.nat(59_999),
        fc.nat(3000),
        (cap, current, previous, elapsed, cost) => {
          const at = (now: number): number => {
            const window = { start: 0, current, previous }
            roll(window, now, 60_000)
            return waitFor(window, now, 60_000, cap, cost)
          }
          const wait = at(elapsed)
          fc.pre(wait > 0)
          expect(at(elapsed + wait)).toBe(0)
          expect(at(elapsed + wait - 1)).toBe(1)
        },
      ),
    )
  })
})
