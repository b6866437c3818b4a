// The system clock. Everything that measures or waits takes a Clock, so that tests never sleep.
import type { Clock, Timer } from '../types/ports.ts'

// The global is a getter: reading it anew costs more than the time.
const { performance } = globalThis

export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  sleep: (ms, signal) =>
    new Promise((resolve, reject) => {
      if (signal?.aborted) return reject(signal.reason)
      const timer = setTimeout(done, ms)
      signal?.addEventListener('abort', stop, { once: true })
      function done(): void {
        signal?.removeEventListener('abort', stop)
        resolve()
      }
      function stop(): void {
        clearTimeout(timer)
        reject(signal?.reason)
      }
    }),
  timer: (ms, fn, background) => cancellable(setTimeout(fn, ms), clearTimeout, background),
  every: (ms, fn) => cancellable(setInterval(fn, ms), clearInterval, true),
}

function cancellable<H>(handle: H, clear: (handle: H) => void, background = false): Timer {
  if (background) (handle as { unref?: () => void }).unref?.()
  return { cancel: () => clear(handle) }
}
