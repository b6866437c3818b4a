// `hookgate serve`: loads, listens, follows the file, reloads on SIGHUP, drains on SIGTERM.
import { setFlagsFromString } from 'node:v8'
import { loadGateway } from '../node/load-gateway.ts'
import { serve } from '../node/serve.ts'
import { action } from './action.ts'
import { dotEnvOfProcess } from './dot-env.ts'
import { milliseconds, onSignals, refuseBadPort, surviveDeafReaders, warnIfOpen, warnOfSlips } from './server-process.ts'
import { isQuiet } from './terminal.ts'
import { serverLog } from './terminal-log.ts'

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
