// `hookgate serve`: loads, listens, follows the file, reloads on SIGHUP, drains on SIGTERM; with `--workers` in several processes.
import { type GatewayConfig, parseConfig } from '../../../core/config/define.ts'
import type { Logger } from '../../../core/types/ports/ports.ts'
import type { LoadedGateway, LoadOptions } from '../../node/loading/load-gateway.ts'
import type { RunningServer } from '../../node/server/serve.ts'
import { action } from '../action.ts'
import { dotEnvOfProcess } from '../dot-env.ts'
import { serverLog } from '../output/terminal-log.ts'
import { isQuiet } from '../terminal.ts'
import { workerCount } from '../workers/count.ts'
import { type Seat, takeSeat, workerLog } from '../workers/seat.ts'
import { startEngine } from './engine.ts'
import { onHangup } from './hangup.ts'
import { milliseconds, onSignals, refuseBadPort, surviveDeafReaders, warnIfOpen, warnOfSlips } from './server-process.ts'

const args = {
  config: { type: 'string', description: 'Configuration file (GATEWAY_CONFIG)' },
  port: { type: 'string', description: 'Port; 0 picks a free one (GATEWAY_PORT)' },
  host: { type: 'string', description: 'Bind address (GATEWAY_HOST)' },
  'data-dir': { type: 'string', description: 'Data directory (GATEWAY_DATA_DIR)' },
  workers: { type: 'string', description: 'Number of processes, or `auto`: one per core (GATEWAY_WORKERS); default 1' },
  'drain-ms': { type: 'string', description: 'Time running requests get after SIGTERM, ms', default: '30000' },
  log: { type: 'string', description: 'Log lines: json or pretty; default: pretty on a terminal' },
  'allow-newer': { type: 'boolean', description: 'Start on a database of a newer version (GATEWAY_ALLOW_NEWER)' },
} as const

export const serveCommand = action({
  name: 'serve',
  description: 'Serve the gateway (default).',
  args,
  async run(given) {
    surviveDeafReaders()
    const drainMs = milliseconds(given['drain-ms'], '--drain-ms')
    if (given.port !== undefined) refuseBadPort(given.port)
    const isPretty = given.log === undefined ? process.stderr.isTTY === true : given.log === 'pretty'
    const lines = serverLog(given.log, process.stderr.isTTY === true, (line) => void process.stderr.write(`${line}\n`))
    const seat = takeSeat()
    const log = seat === null ? lines : workerLog(lines, seat.place)
    const dotEnv = dotEnvOfProcess()
    if (dotEnv !== null && seat === null) log.info('serve.env_file', { file: dotEnv.path, variables: dotEnv.names })
    const asked = given.workers ?? process.env.GATEWAY_WORKERS
    const origin = given.workers === undefined ? 'GATEWAY_WORKERS' : '--workers'
    const workers = seat === null ? workerCount(asked, origin) : 1
    if (workers > 1) return startWorkers(workers, log)
    const started = startEngine()
    const flags = {
      CONFIG: given.config,
      PORT: seat?.port ?? given.port,
      HOST: given.host,
      DATA_DIR: given['data-dir'],
      WORKERS: given.workers,
      ...(given['allow-newer'] ? { ALLOW_NEWER: 'true' } : {}),
    }
    const options: LoadOptions = { flags, ports: { log }, ...(seat === null ? {} : { link: seat.link }) }
    const isCounted = seat !== null || (asked?.trim() ?? '') !== ''
    const loaded = await (isCounted ? load(options) : loadOne(options))
    if (typeof loaded === 'number') {
      started()
      return startWorkers(loaded, log)
    }
    return run(loaded, { log, drainMs, seat, started, banner: isPretty && !isQuiet() })
  },
})

/** Loaded here, because the primary process of workers needs none of it. */
async function load(options: LoadOptions): Promise<LoadedGateway> {
  const { loadGateway } = await import('../../node/loading/load-gateway.ts')
  return loadGateway(options)
}

async function startWorkers(count: number, log: Logger): Promise<void> {
  const { runPrimary } = await import('../workers/primary.ts')
  runPrimary({ count, log })
}

class WorkersWanted extends Error {
  readonly count: number

  constructor(count: number) {
    super('The configuration file asks for workers.')
    this.count = count
  }
}

/** Returns the number of workers instead when the configuration file asks for more than one, before anything is open. */
async function loadOne(options: LoadOptions): Promise<LoadedGateway | number> {
  let first = true
  const extend = (config: GatewayConfig): GatewayConfig => {
    const wanted = parseConfig(config).options?.workers
    const count = first && wanted !== undefined ? workerCount(String(wanted), 'options.workers') : 1
    first = false
    if (count > 1) throw new WorkersWanted(count)
    return config
  }
  try {
    return await load({ ...options, extend })
  } catch (error) {
    if (error instanceof WorkersWanted) return error.count
    throw error
  }
}

interface RunOptions {
  readonly log: Logger
  readonly drainMs: number
  /** null: the process serves alone. */
  readonly seat: Seat | null
  /** Call it when the server listens. */
  readonly started: () => void
  /** Print the banner. */
  readonly banner: boolean
}

async function run(loaded: LoadedGateway, { log, drainMs, seat, started, banner }: RunOptions): Promise<void> {
  const { serve } = await import('../../node/server/serve.ts')
  const { env } = loaded.gateway
  const host = env.get<string>('HOST')
  const server = await serve(loaded.gateway, {
    host,
    port: await portOf(env.get<number>('PORT'), host, seat),
    publicUrl: env.get<string | null>('PUBLIC_URL'),
    drainMs,
    // A load balancer must see the 503 before connections are refused.
    lameDuckMs: env.get<string>('PROFILE') === 'cloud' ? 5000 : 0,
    log,
    ...(seat === null ? {} : { workers: seat.count }),
  })
  started()
  const url = `http://${host}:${server.port}`
  if (seat === null || seat.place === 1) {
    warnIfOpen(host, env.get<boolean>('REQUIRE_API_KEY'), log)
    warnOfSlips(env, log)
  }
  const greet = () => (banner ? printBanner(loaded, url) : undefined)
  if (seat !== null) return takeOrders(seat, loaded, server, url, greet, log)
  onSignals(() => server.close(), log)
  onHangup(() => {
    log.info('serve.reloading', { signal: 'SIGHUP', file: loaded.path !== null })
    void loaded.refresh()
  })
  // The first line on stdout; its reader may send a signal at once.
  console.log(`hookgate listening on ${url}`)
  await greet()
}

/** Workers share a socket by its number, so the first one replaces 0: then a worker that comes when no other lives gets the same port. */
async function portOf(port: number, host: string, seat: Seat | null): Promise<number> {
  if (seat === null || port !== 0) return port
  const { freePort } = await import('../workers/free-port.ts')
  return freePort(host)
}

/** The primary process handles the signals, and prints the address. */
function takeOrders(
  seat: Seat,
  loaded: LoadedGateway,
  server: RunningServer,
  url: string,
  greet: () => unknown,
  log: Logger,
): void {
  onSignals(() => server.close(), log, true)
  seat.on('reload', () => void loaded.refresh())
  seat.on('announce', () => void greet())
  seat.listening(url)
}

async function printBanner(loaded: LoadedGateway, url: string): Promise<void> {
  const { banner } = await import('./banner.ts')
  process.stderr.write(`${await banner(loaded.gateway, { url, path: loaded.path, readyMs: performance.now() })}\n`)
}
