// Prevents a slow store from delaying every request: after three errors in a row it is not called for five seconds, then one call probes
// it. One stall fails many calls with the same error object and counts as one error.
import type { Clock } from '../../core/types/ports/ports.ts'

export interface StoreBreaker {
  readonly down: boolean
  /** Returns null while the breaker is open: `operation` was not called. */
  attempt<T>(operation: () => Promise<T>): Promise<T> | null
}

export interface StoreBreakerOptions {
  clock: Clock
  /** Called when the breaker opens, not when a probe fails again. */
  onDown?: () => void
  onUp?: () => void
  /** Default 3. */
  errors?: number
  /** Default 5,000. */
  downMs?: number
}

export function storeBreaker({ clock, onDown, onUp, errors = 3, downMs = 5000 }: StoreBreakerOptions): StoreBreaker {
  let failed = 0
  let down = false
  let probing = false
  let retryAt = 0
  let lastError: unknown

  const fails = (probe: boolean, error: unknown): void => {
    if (probe) {
      probing = false
      retryAt = clock.monotonic() + downMs
      return
    }
    // Failures of calls that were running when it opened do not count.
    if (down || error === lastError) return
    lastError = error
    failed++
    if (failed < errors) return
    down = true
    retryAt = clock.monotonic() + downMs
    onDown?.()
  }
  const succeeds = (probe: boolean): void => {
    if (probe) {
      probing = false
      down = false
      onUp?.()
    }
    if (!down) failed = 0
  }

  return {
    get down() {
      return down
    },
    attempt(operation) {
      if (down && (probing || clock.monotonic() < retryAt)) return null
      const probe = down
      probing = probe
      return operation().then(
        (value) => {
          succeeds(probe)
          return value
        },
        (error: unknown) => {
          fails(probe, error)
          throw error
        },
      )
    },
  }
}
