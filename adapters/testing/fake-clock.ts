// A clock that moves only on request. Timers fire in order of their time; the work that they start is awaited in between.
import type { Clock, Timer } from '../../core/types/ports/ports.ts'

export interface FakeClock extends Clock {
  /** Advances by ms, or by "90s", "5m", "1h", "2d". */
  advance(by: number | string): Promise<void>
  /** Number of timers that have not fired. */
  readonly pending: number
}

interface Due {
  at: number
  every: number | null
  fn: () => void
}

/** @param start epoch ms of the first moment. */
export function fakeClock(start = Date.UTC(2026, 0, 1)): FakeClock {
  let elapsed = 0
  // The sum of all advances, so that one that begins while another waits neither shortens it nor turns time back.
  let goal = 0
  const due = new Set<Due>()
  const add = (ms: number, fn: () => void, every: number | null): Timer => {
    const entry: Due = { at: elapsed + ms, every, fn }
    due.add(entry)
    return { cancel: () => void due.delete(entry) }
  }
  return {
    now: () => Math.floor(start + elapsed),
    monotonic: () => elapsed,
    timer: (ms, fn) => add(ms, fn, null),
    every: (ms, fn) => add(ms, fn, ms),
    sleep: (ms, signal) =>
      new Promise((resolve, reject) => {
        if (signal?.aborted) return reject(signal.reason)
        const timer = add(ms, done, null)
        signal?.addEventListener('abort', stop)
        function done(): void {
          signal?.removeEventListener('abort', stop)
          resolve()
        }
        function stop(): void {
          timer.cancel()
          reject(signal?.reason)
        }
      }),
    get pending() {
      return due.size
    },
    async advance(by) {
      goal += milliseconds(by)
      const until = goal
      for (;;) {
        const next = [...due].filter((entry) => entry.at <= until).sort((a, b) => a.at - b.at)[0]
        if (next === undefined) break
        elapsed = Math.max(elapsed, next.at)
        if (next.every === null) due.delete(next)
        else next.at += next.every
        next.fn()
        await settle()
      }
      elapsed = Math.max(elapsed, until)
      await settle()
    },
  }
}

/** Runs promises and immediates that a timer started. */
async function settle(): Promise<void> {
  for (let i = 0; i < 5; i++) await new Promise((resolve) => setImmediate(resolve))
}

function milliseconds(by: number | string): number {
  if (typeof by === 'number') return by
  const [, amount, unit] = /^(\d+(?:\.\d+)?)(ms|s|m|h|d)$/.exec(by) ?? []
  if (amount === undefined) throw new Error(`"${by}" is not a duration like 90s, 5m, 1h or 2d.`)
  return Number(amount) * ({ ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 }[unit as string] as number)
}
