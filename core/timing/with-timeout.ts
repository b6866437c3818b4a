// Adds a timeout to a promise of foreign code.
import type { Clock } from '../types/ports/ports.ts'

/** Returns the result of `work`. @throws Error when it has not ended after `ms`; it continues, but its result is ignored. */
export async function withTimeout<T>(clock: Clock, ms: number, work: PromiseLike<T> | T): Promise<T> {
  let cancel = (): void => {}
  const late = new Promise<never>((_resolve, reject) => {
    const timer = clock.timer(ms, () => reject(new Error(`it has not ended after ${ms} ms`)))
    cancel = () => timer.cancel()
  })
  try {
    return await Promise.race([work, late])
  } finally {
    cancel()
  }
}
