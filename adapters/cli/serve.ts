// `hookgate serve`: loads, listens, follows the file, reloads on SIGHUP, drains on SIGTERM.
import { setFlagsFromString } from 'node:v8'
import type { Env } from '../../core/config/env.ts'
import type { Logger } from '../../core/types/ports.ts'
import { loadGateway } from '../node/load-gateway.ts'
import { serve } from '../node/serve.ts'
import { action } from './action.ts'
import { dotEnvOfProcess } from './dot-env.ts'
import { failUsage } from './fail.ts'
import { isQuiet } from './terminal.ts'
import { serverLog } from './terminal-log.ts'
import { unreadVariables } from './unread-variables.ts'

const args = {
  config: { type: 'string', description: 'Configuration file (GATEWAY_CONFIG)' },
  port: { type: 'string', description: 'Port; 0 picks a free one (GATEWAY_PORT)' },
  host: { type: 'string', description: 'Bind address (GATEWAY_HOST)' },
  'data-dir': { type: 'string', description: 'Data directory (GATEWAY_DATA_DIR)' },
  'drain-ms': { type: 'string', description: 'Time running requests get after SIGTERM, ms', default: '30000' },
  log: { type: 'string', description: 'Log lines: json or pretty; default: pretty on a terminal' },
  'allow-newer': { type: 'boolean', description: 'Start on a database of a newer version (GATEWAY_ALLOW_NEWER)' },
} as const

export const serveCommand = action({
  name: 'serve',
  description: 'Serve the gateway (default).',
  args,
  async run(given) {
    // Keep request objects in the young generation. V8 would allocate them in the old generation when a young generation is as short as a
    // request. Everything that they refer to would then survive each young collection (docs/performance.md).
    setFlagsFromString('--no-allocation-site-pretenuring')
    surviveDeafReaders()
    const drainMs = milliseconds(given['drain-ms'], '--drain-ms')
    if (given.port !== undefined) refuseBadPort(given.port)
    const isPretty = given.log === undefined ? process.stderr.isTTY === true : given.log === 'pretty'
    const log = serverLog(given.log, process.stderr.isTTY === true, (line) => void process.stderr.write(`${line}\n`))
    const dotEnv = dotEnvOfProcess()
    if (dotEnv !== null) log.info('serve.env_file', { file: dotEnv.path, variables: dotEnv.names })
    const flags = {
      CONFIG: given.config,
      PORT: given.port,
      HOST: given.host,
      DATA_DIR: given['data-dir'],
      ...(given['allow-newer'] ? { ALLOW_NEWER: 'true' } : {}),
    }
    const loaded = await loadGateway({ flags, ports: { log } })
    const { env } = loaded.gateway
    const host = env.get<string>('HOST')
    const server = await serve(loaded.gateway, {
      host,
      port: env.get<number>('PORT'),
      publicUrl: env.get<string | null>('PUBLIC_URL'),
      drainMs,
      // A load balancer must see the 503 before connections are refused.
      lameDuckMs: env.get<string>('PROFILE') === 'cloud' ? 5000 : 0,
      log,
    })
    warnIfOpen(host, env.get<boolean>('REQUIRE_API_KEY'), log)
    warnOfSlips(env, log)
    onSignals(() => server.close(), log)
    process.on('SIGHUP', () => {
      log.info('serve.reloading', { signal: 'SIGHUP', file: loaded.path !== null })
      void loaded.refresh()
    })
    // The first line on stdout; its reader may send a signal at once.
    const url = `http://${host}:${server.port}`
    console.log(`hookgate listening on ${url}`)
    if (isPretty && !isQuiet()) {
      const { banner } = await import('./banner.ts')
      process.stderr.write(`${await banner(loaded.gateway, { url, path: loaded.path, readyMs: performance.now() })}\n`)
    }
  },
})

function milliseconds(text: string, flag: string): number {
  const value = Number(text)
  if (Number.isSafeInteger(value) && value >= 0) return value
  return failUsage(`${flag}: \`${text.slice(0, 60)}\` is not a whole number of milliseconds.`)
}

/** The log's reader may exit, and its disk may be full. Drop log lines then, and keep serving. */
function surviveDeafReaders(): void {
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {})
}

/** Same check as for the variable, with the flag's name in the message. */
function refuseBadPort(text: string): void {
  if (!/^\d{1,5}$/.test(text) || Number(text) > 65_535)
    failUsage(`--port: \`${text.slice(0, 60)}\` is not a port, a whole number from 0 to 65535.`)
}

function warnIfOpen(host: string, keysRequired: boolean, log: Logger): void {
  if (keysRequired || host === 'localhost' || host === '::1' || host.startsWith('127.')) return
  log.warn('serve.open', {
    host,
    hint: 'Listening beyond this machine without GATEWAY_REQUIRE_API_KEY: anonymous calls are still answered for local clients only.',
  })
}

/** Warns only about names that resemble a variable: other GATEWAY_ names may belong to the configuration file or the platform. */
function warnOfSlips(env: Env, log: Logger): void {
  for (const { name, suggested } of unreadVariables(process.env, env))
    if (suggested !== null)
      log.warn('serve.unread_variable', { name, hint: `The gateway does not know it. Did you mean ${suggested}?` })
}

/** The first signal drains, the second exits at once. An unhandled error is logged and ends the process (a supervisor restarts it). */
function onSignals(close: () => Promise<void>, log: Logger): void {
  let closing = false
  const stop = (signal: string): void => {
    if (closing) process.exit(1)
    closing = true
    log.info('serve.draining', { signal })
    close().then(
      () => process.exit(0),
      () => process.exit(1),
    )
  }
  process.on('SIGTERM', () => stop('SIGTERM'))
  process.on('SIGINT', () => stop('SIGINT'))
  const crash = (error: unknown): void => {
    log.error('serve.crash', { error: error instanceof Error ? (error.stack ?? error.message) : String(error) })
    setTimeout(() => process.exit(1), 2000)
    void close().finally(() => process.exit(1))
  }
  process.on('uncaughtException', crash)
  process.on('unhandledRejection', crash)
}
