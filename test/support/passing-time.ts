// What a timer of a fake clock starts is real I/O where rows are in a real database: it may end when the time that a test let
// pass is over, and a poll that was under way before a write does not see it. So time goes on until it has been seen.
import { expect } from 'vitest'
import type { FakeClock } from '../../adapters/testing/fake-clock.ts'

/** `expect.poll`, with so much time of the clock before each look. */
export function whileTimePasses<T>(clock: FakeClock, look: () => T | Promise<T>, step = '1s') {
  return expect.poll(async () => {
    await clock.advance(step)
    return look()
  })
}
