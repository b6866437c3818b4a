// The log of a test gateway: only failures of plugins, with their stacks.
import type { Logger } from '../../core/types/ports/ports.ts'

const FAILURES = new Set(['plugin.error', 'plugin.teardown_failed', 'job.failed'])

/** @param write default: standard error. For a test of a plugin that fails on purpose, pass `silentLog` as `ports.log`. */
export function testLog(write: (text: string) => void = (text) => void process.stderr.write(text)): Logger {
  return {
    debug() {},
    info() {},
    warn() {},
    error(message, fields = {}) {
      if (!FAILURES.has(message)) return
      const { error, ...rest } = fields as Record<string, unknown>
      const place = Object.values(rest).map(String).join(' ')
      write(`${message} ${place}\n${String(error)}\n`)
    },
  }
}
