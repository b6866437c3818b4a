import { describe, expect, it } from 'vitest'
import { fakeClock } from '../../../adapters/testing/index.ts'

describe('fakeClock', () => {
  it('moves only when told to, wall clock and monotonic together', async () => {
    const clock = fakeClock(1000)
    expect([clock.now(), clock.monotonic()]).toEqual([1000, 0])
    for (const [by, ms] of [
      [5, 5],
      ['90s', 90_000],
      ['5m', 300_000],
      ['1.5h', 5_400_000],
      ['2d', 172_800_000],
      ['250ms', 250],
    ] as const) {
      const before = clock.monotonic()
      await clock.advance(by)
      expect(clock.monotonic() - before).toBe(ms)
    }
    expect(clock.now() - clock.monotonic()).toBe(1000)
    await expect(clock.advance('soon')).rejects.toThrow(/"soon" is not a duration/)
  })

  it('adds up advances that overlap, and never goes back', async () => {
    const clock = fakeClock()
    const seen: number[] = []
    clock.every(10, () => void seen.push(clock.monotonic()))
    await Promise.all([clock.advance(25), clock.advance(10), clock.advance(5)])
    expect(clock.monotonic()).toBe(40)
    expect(seen).toEqual([10, 20, 30, 40])
    clock.timer(0, () => void clock.advance(7))
    await clock.advance(0)
    expect(clock.monotonic()).toBe(47)
  })

  it('fires timers in the order of their time, each at its own moment, and awaits what they start', async () => {
    const clock = fakeClock()
    const fired: [string, number][] = []
    const note = (name: string) => () => void fired.push([name, clock.monotonic()])
    clock.timer(30, note('late'))
    clock.timer(10, () => void clock.sleep(5).then(note('chained')))
    clock.every(12, note('every'))
    clock.timer(20, note('cancelled')).cancel()
    await clock.advance(40)
    expect(fired).toEqual([
      ['every', 12],
      ['chained', 15],
      ['every', 24],
      ['late', 30],
      ['every', 36],
    ])
    expect(clock.pending).toBe(1)
  })

  it('a sleep ends early with its signal', async () => {
    const clock = fakeClock()
    const controller = new AbortController()
    const sleeping = clock.sleep(1000, controller.signal)
    controller.abort(new Error('stop'))
    await expect(sleeping).rejects.toThrow('stop')
    expect(clock.pending).toBe(0)
    await expect(clock.sleep(1, AbortSignal.abort(new Error('gone')))).rejects.toThrow('gone')
  })
})
