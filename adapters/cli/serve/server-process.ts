// Parts of a command that runs a server: flags, warnings at the start, signals. `hookgate serve` and `hookgate dev` use them.
import type { Env } from '../../../core/config/env.ts'
import type { Logger } from '../../../core/types/ports/ports.ts'
import { failUsage } from '../fail.ts'
import { unreadVariables } from '../unread-variables.ts'

export function milliseconds(text: string, flag: string): number {
  const value = Number(text)
  if (Number.isSafeInteger(value) && value >= 0) return value
  return failUsage(`${flag}: \`${text.slice(0, 60)}\` is not a whole number of milliseconds.`)
}

/** The log's reader may exit, and its disk may be full. Drop log lines then, and keep serving. */
export function surviveDeafReaders(): void {
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {})
}

/** Same check as for the variable, with the flag's name in the message. */
export function refuseBadPort(text: string): void {
  if (!/^\d{1,5}$/.test(text) || Number(text) > 65_535)
    failUsage(`--port: \`${text.slice(0, 60)}\` is not a port, a whole number from 0 to 65535.`)
}

export function warnIfOpen(host: string, keysRequired: boolean, log: Logger): void {
  if (keysRequired || host === 'localhost' || host === '::1' || host.startsWith('127.')) return
  log.warn('serve.open', {
    host,
    hint: 'Listening beyond this machine without GATEWAY_REQUIRE_API_KEY: anonymous calls are still answered for local clients only.',
  })
}

/** Warns only about names that resemble a variable: other GATEWAY_ names may belong to the configuration file or the platform. */
export function warnOfSlips(env: Env, log: Logger): void {
  for (const { name, suggested } of unreadVariables(process.env, env))
    if (suggested !== null)
      log.warn('serve.unread_variable', { name, hint: `The gateway does not know it. Did you mean ${suggested}?` })
}

/**
 * The first signal drains, the second exits at once. An unhandled error is logged and ends the process (a supervisor restarts it).
 * @param worker SIGTERM drains, and nothing else counts: the primary process decides, and a service manager signals both.
 */
export function onSignals(close: () => Promise<void>, log: Logger, worker = false): void {
  let closing = false
  const stop = (signal: string): void => {
    if (closing && worker) return
    if (closing) process.exit(1)
    closing = true
    if (!worker) log.info('serve.draining', { signal })
    close().then(
      () => process.exit(0),
      () => process.exit(1),
    )
  }
  process.on('SIGTERM', () => stop('SIGTERM'))
  if (!worker) process.on('SIGINT', () => stop('SIGINT'))
  const crash = (error: unknown): void => {
    log.error('serve.crash', { error: error instanceof Error ? (error.stack ?? error.message) : String(error) })
    setTimeout(() => process.exit(1), 2000)
    void close().finally(() => process.exit(1))
  }
  process.on('uncaughtException', crash)
  process.on('unhandledRejection', crash)
}
