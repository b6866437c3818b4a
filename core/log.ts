// Writes JSON lines to stdout; debug lines only when enabled.
import { loggedText } from './text/error-text.ts'
import type { Clock, Logger } from './types/ports/ports.ts'

export interface LogOptions {
  level?: keyof Logger
  write?: (line: string) => void
}

const LEVELS: (keyof Logger)[] = ['debug', 'info', 'warn', 'error']

export function jsonLog(clock: Clock, { level = 'info', write = (line) => console.log(line) }: LogOptions = {}): Logger {
  const from = LEVELS.indexOf(level)
  const at =
    (name: keyof Logger) =>
    (message: string, fields: object = {}): void => {
      if (LEVELS.indexOf(name) < from) return
      const line = { time: new Date(clock.now()).toISOString(), level: name, message, ...fields }
      // JSON.stringify would write an error as `{}`.
      write(JSON.stringify(line, (_name, value: unknown) => (value instanceof Error ? loggedText(value) : value)))
    }
  return { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') }
}

export const silentLog: Logger = { debug() {}, info() {}, warn() {}, error() {} }
