// A primary process that is stopped or swapped out must not hold the requests of its workers: a call that it does not answer in time fails,
// and after three failures each worker answers by itself for five seconds (store-breaker.ts).
import { storageUnavailable } from '../../../core/db/storage-fault.ts'
import type { Clock, Logger } from '../../../core/types/ports/ports.ts'
import type { FallbackLink } from '../fallback-counters.ts'
import { storeBreaker } from '../store-breaker.ts'
import type { Link } from './link.ts'

/** A primary with work answers within a millisecond. A busy machine may take much longer. */
export const PATIENCE_MS = 1000

type Caller = Pick<Link, 'call'>

/** Rejects when there is no answer in time. A lease that is granted later is given back. */
export function within<T>(answer: Promise<T>, clock: Pick<Clock, 'timer'>): Promise<T> {
  return new Promise((resolve, reject) => {
    let late = false
    const timer = clock.timer(PATIENCE_MS, () => {
      late = true
      reject(storageUnavailable('the primary process of the workers does not answer.'))
    })
    answer.then(
      (value) => {
        if (late) return (value as { release?: () => void } | null)?.release?.()
        timer.cancel()
        resolve(value)
      },
      (error: unknown) => {
        timer.cancel()
        reject(error)
      },
    )
  })
}

/** The same link, whose calls end in time. */
export function patientLink(link: Link, clock: Pick<Clock, 'timer'>): Link {
  return { ...link, call: (verb, ...args) => within(link.call(verb, ...args), clock) }
}

/** @param link the one without a limit, because a late lease must be seen. */
export function fallbackLink(link: Caller, clock: Clock, log: Logger): FallbackLink {
  const breaker = storeBreaker({
    clock,
    onDown: () =>
      log.warn('workers.primary_stalled', {
        hint: 'The primary process does not answer. GATEWAY_LIMITER_REDIS_FALLBACK applies until it does.',
      }),
    onUp: () => log.info('workers.primary_back', {}),
  })
  const pinged = { ping: () => link.call('ping') }
  return {
    name: 'primary',
    everReady: true,
    get usable() {
      return !breaker.down
    },
    attempt: (operation) => breaker.attempt(() => within(operation(pinged), clock)),
  }
}
