// Timers beyond Node's limit of 24.8 days. In a separate file: with fake timers, leftovers of other tests would run for all these days.
import { expect, it, vi } from 'vitest'
import { systemClock } from '../../../core/timing/clock.ts'

it('a timer of 60 days fires once, after 60 days', async () => {
  vi.useFakeTimers()
  const days = (n: number) => n * 86_400_000
  let fired = 0
  const timer = systemClock.timer(days(60), () => void fired++)
  systemClock.timer(days(60), () => void fired++).cancel()
  await vi.advanceTimersByTimeAsync(days(59))
  expect(fired).toBe(0)
  await vi.advanceTimersByTimeAsync(days(2))
  expect(fired).toBe(1)
  timer.cancel()
  vi.useRealTimers()
})
