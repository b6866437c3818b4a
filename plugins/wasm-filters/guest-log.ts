// Log lines of a filter and about it, with a limit per minute, so that a filter cannot flood the gateway's log.
import type { Clock, Logger } from '../../core/types/ports.ts'
import type { LogLine } from './extism-host.ts'
import type { FilterFailure } from './failure.ts'

const LINES_PER_MINUTE = 60
const MINUTE_MS = 60_000

export interface GuestLog {
  write(filter: string, lines: readonly LogLine[]): void
  failed(filter: string, hook: string, failure: FilterFailure): void
}

export function guestLog(log: Logger, clock: Clock): GuestLog {
  let since = Number.NEGATIVE_INFINITY
  let written = 0

  function mayWrite(filter: string): boolean {
    const now = clock.monotonic()
    if (now - since >= MINUTE_MS) {
      since = now
      written = 0
    }
    if (++written === LINES_PER_MINUTE + 1) log.warn('wasm.log_cut', { filter, linesPerMinute: LINES_PER_MINUTE })
    return written <= LINES_PER_MINUTE
  }

  return {
    write(filter, lines) {
      for (const { level, text } of lines) if (mayWrite(filter)) log[level]('wasm.log', { filter, text })
    },
    failed(filter, hook, { reason, message }) {
      if (mayWrite(filter)) log.warn('wasm.failed', { filter, hook, reason, error: message })
    },
  }
}
