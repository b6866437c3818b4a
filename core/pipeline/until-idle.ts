// Waits for the end of requests: a reload, a drain.
import type { RequestState } from './context.ts'
import type { Runtime } from './runtime.ts'

/** False: some still run after `ms`. Polls rather than counts: a swap is rare, a counter per request is not free. */
export async function untilIdle(
  { active, clock }: Pick<Runtime, 'active' | 'clock'>,
  which: (ctx: RequestState) => boolean,
  ms: number,
): Promise<boolean> {
  const until = clock.monotonic() + ms
  while (active.values().some(which)) {
    const left = until - clock.monotonic()
    if (left <= 0) return false
    await clock.sleep(Math.min(50, left))
  }
  return true
}
