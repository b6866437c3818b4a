// A clock whose timers run outside of every organization: a timer that a route of one organization starts may work for all of them.
import type { TenantWall } from '../types/ports/db.ts'
import type { Clock } from '../types/ports/ports.ts'

export function detachedClock(clock: Clock, detached: TenantWall['detached']): Clock {
  return {
    now: () => clock.now(),
    monotonic: () => clock.monotonic(),
    sleep: (ms, signal) => clock.sleep(ms, signal),
    timer: (ms, fn, background) => clock.timer(ms, detached(fn), background),
    every: (ms, fn) => clock.every(ms, detached(fn)),
  }
}
