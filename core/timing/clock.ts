// The system clock. All code that measures or waits takes a Clock, so that tests never sleep.
import type { Clock, Timer } from '../types/ports/ports.ts'

// The global is a getter: reading it each time costs more than reading the time.
const { performance } = globalThis

export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  sleep: (ms, signal) =>
    new Promise((resolve, reject) => {
      if (signal?.aborted) return reject(signal.reason)
      const timer = later(ms, done)
      signal?.addEventListener('abort', stop, { once: true })
      function done(): void {
        signal?.removeEventListener('abort', stop)
        resolve()
      }
      function stop(): void {
        timer.cancel()
        reject(signal?.reason)
      }
    }),
  timer: later,
  every: (ms, fn) => cancellable(setInterval(fn, ms), clearInterval, true),
}

/** Longest delay of setTimeout, 24.8 days. A longer timer would fire at once. */
const LONGEST_MS = 2 ** 31 - 1

function later(ms: number, fn: () => void, background = false): Timer {
  if (!(ms > LONGEST_MS)) return cancellable(setTimeout(fn, ms), clearTimeout, background)
  let timer = cancellable(
    setTimeout(() => {
      timer = later(ms - LONGEST_MS, fn, background)
    }, LONGEST_MS),
    clearTimeout,
    background,
  )
  return { cancel: () => timer.cancel() }
}

function cancellable<H>(handle: H, clear: (handle: H) => void, background = false): Timer {
  if (background) (handle as { unref?: () => void }).unref?.()
  return { cancel: () => clear(handle) }
}
