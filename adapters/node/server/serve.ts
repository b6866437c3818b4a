// Serves the gateway with our own http.Server, limits and drain. srvx and h3 would cut open streams without an error frame.
import { createServer, type IncomingMessage, type Server } from 'node:http'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { setImmediate as endOfTurn, setTimeout as sleep } from 'node:timers/promises'
import { GatewayError } from '../../../core/errors/gateway-error.ts'
import type { HostedGateway } from '../../../core/gateway.ts'
import { systemClock } from '../../../core/timing/clock.ts'
import type { Clock, Logger } from '../../../core/types/ports/ports.ts'
import { writeLate } from '../../transport/late-writes.ts'
import { acceptQueue } from './accept-queue.ts'
import { peerOf, peerRules } from './local-peer.ts'
import { type NodeListener, nodeListener, refuse } from './node-handler.ts'
import { type PendingConnections, pendingConnections } from './pending-connections.ts'
import { type PressureLimits, watchPressure } from './pressure.ts'
import { type NodeUpgrade, toNodeUpgrade } from './upgrade.ts'
import { upgradeOnlyWebSockets, WebSocketRequest } from './websocket-request.ts'

export interface ServeOptions {
  host: string
  /** 0 selects a free port. */
  port: number
  /** Accepted host names in addition to localhost and `host`. */
  publicUrl?: string | null
  /** Time for running requests after close(), ms; default 30 s. */
  drainMs?: number
  /**
   * Time before the drain, ms; default 0. Readiness answers 503 while new connections are still accepted, so that a load balancer can
   * react.
   */
  lameDuckMs?: number
  /** Number of processes that share the address; each has its part of the limits of connections. Default 1. */
  workers?: number
  log?: Logger
  /** Default: the system clock. */
  clock?: Clock
  /** Makes the server and lets it listen. Default: node:http on `host` and `port`. */
  listen?: (listener: NodeListener) => Promise<Server>
}

export interface RunningServer {
  readonly host: string
  readonly port: number
  readonly url: string
  readonly server: Server
  /** Drains: readiness is 503, no new connections, running requests end or get their error frame. Idempotent. */
  close(): Promise<void>
}

const DRAIN_MS = 30_000

const MAX_HEADER_LINES = 100

const LIMITS = { headersTimeout: 15_000, requestTimeout: 300_000, keepAliveTimeout: 75_000 }

const SERVER = {
  ...LIMITS,
  connectionsCheckingInterval: 5000,
  maxHeaderSize: 16 * 1024,
  noDelay: true,
  IncomingMessage: WebSocketRequest,
}

/** Time for the client to read the answer: an immediate close with unread bytes would discard the error. */
const GRACE_MS = 1000

function clientErrorHandler(clock: Clock): (error: NodeJS.ErrnoException, socket: Duplex) => void {
  const ending = new WeakSet<Duplex>()
  return (error, socket) => {
    // Bytes after the first invalid one cause another error.
    if (ending.has(socket)) return
    if (error.code === 'ECONNRESET' || socket.destroyed) return void socket.destroy()
    ending.add(socket)
    if (socket.writable)
      socket.end(
        `HTTP/1.1 ${error.code === 'HPE_HEADER_OVERFLOW' ? '431 Request Header Fields Too Large' : '400 Bad Request'}\r\nconnection: close\r\n\r\n`,
      )
    const grace = clock.timer(GRACE_MS, () => socket.destroy(), true)
    socket.once('close', () => grace.cancel())
  }
}

/** @throws Error when the address cannot be bound. */
export async function serve(gateway: HostedGateway, options: ServeOptions): Promise<RunningServer> {
  const rules = peerRules(options.host, options.publicUrl ?? null)
  const peer = (req: IncomingMessage) => peerOf(req, rules)
  const clock = options.clock ?? systemClock
  const { workers = 1 } = options
  const pending = boundedPending(gateway, clock, workers)
  const listener = counted(pending, nodeListener(gateway, { peer, together: true }))
  const server =
    options.listen === undefined ? createServer(SERVER, listener) : Object.assign(await options.listen(listener), LIMITS)
  if (options.listen !== undefined) upgradeOnlyWebSockets(server)
  // No limit of Node: Node 20 silently drops lines above it, and without x-forwarded-for a stranger would count as local. Node 24 refuses
  // them without the gateway's envelope. The limit of bytes bounds the lines that are counted here.
  server.maxHeadersCount = 0
  server.maxConnections = Math.ceil(gateway.env.get<number>('MAX_CONNECTIONS') / workers)
  const queue = acceptQueue(clock)
  server.on('connection', (socket) => {
    queue.opened()
    pending.opened(socket)
  })
  server.on('setSecureContext' in server ? 'secureConnection' : 'connection', (socket: Socket) => void writeLate(socket))
  // Credentials and the declared length are checked before the client gets `100 Continue`.
  server.on('checkContinue', counted(pending, nodeListener(gateway, { peer, together: true, expectContinue: true })))
  const upgrade = toNodeUpgrade(gateway, { peer, clock, refusal: tooManyHeaders })
  server.on('upgrade', (req, socket, head) => {
    pending.brings(req)
    upgrade(req, socket, head)
  })
  server.on('clientError', clientErrorHandler(clock))
  if (options.listen === undefined) await listen(server, options)
  const watching = watchPressure(gateway, () => pressureLimits(gateway), clock, queue.standingMs)
  server.once('close', () => watching.cancel())
  const address = server.address() as { address: string; port: number }
  const url = `${'setSecureContext' in server ? 'https' : 'http'}://${options.host.includes(':') ? `[${options.host}]` : options.host}:${address.port}`
  gateway.listening(url)
  let closing: Promise<void> | null = null
  return {
    host: options.host,
    port: address.port,
    url,
    server,
    close() {
      closing ??= shutDown(gateway, server, upgrade, options)
      return closing
    },
  }
}

function pressureLimits({ env }: HostedGateway): PressureLimits {
  return { loopDelayMs: env.get<number>('OVERLOAD_LOOP_DELAY_MS'), heapPercent: env.get<number>('OVERLOAD_HEAP_PERCENT') }
}

function boundedPending(gateway: HostedGateway, clock: Clock, workers: number): PendingConnections {
  const { env, metrics } = gateway
  const evictions = metrics.tally(
    'connections_evicted_total',
    'Connections closed before they brought a whole request, by the bound that was reached.',
    ['bound'],
  )
  const series = { address: evictions.series('address'), total: evictions.series('total') }
  const limits = {
    // Not divided: the system gives one worker more of a burst than another.
    perAddress: env.get<number>('MAX_PENDING_CONNECTIONS_PER_ADDRESS'),
    total: Math.ceil((env.get<number | null>('MAX_PENDING_CONNECTIONS') ?? env.get<number>('MAX_CONNECTIONS') / 2) / workers),
  }
  const pending = pendingConnections(limits, clock, (bound) => series[bound].add(1))
  const gauge = metrics.gauge('connections_pending', 'Connections that have not yet brought a whole request.')
  Object.assign(gauge, { collect: () => gauge.set(pending.size) })
  return pending
}

/** Refuses requests with too many header lines. */
function counted(pending: PendingConnections, listener: NodeListener): NodeListener {
  return (req, res) => {
    pending.brings(req)
    const refusal = tooManyHeaders(req)
    if (refusal === null) return listener(req, res)
    refuse(res, refusal)
  }
}

function tooManyHeaders(req: IncomingMessage): GatewayError | null {
  if (req.rawHeaders.length <= 2 * MAX_HEADER_LINES) return null
  const message = `The request has more than ${MAX_HEADER_LINES} header lines.`
  return new GatewayError(message, { status: 431, type: 'invalid_request_error', code: 'too_many_headers' })
}

async function shutDown(gateway: HostedGateway, server: Server, upgrade: NodeUpgrade, options: ServeOptions): Promise<void> {
  const { drainMs = DRAIN_MS, lameDuckMs = 0 } = options
  // From now on readiness is 503.
  const until = performance.now() + lameDuckMs + drainMs
  const draining = gateway.drain(lameDuckMs + drainMs)
  if (lameDuckMs > 0) await sleep(lameDuckMs)
  server.prependListener('request', (_req, res) => {
    res.shouldKeepAlive = false
  })
  upgrade.drain()
  const closed = new Promise<void>((resolve) => server.close(() => resolve()))
  // Idle keep-alive connections end now, busy ones after their answer.
  server.closeIdleConnections()
  await draining
  // Drain requests that arrived meanwhile on open connections, also those of this turn of the event loop.
  await endOfTurn()
  await gateway.drain(Math.max(0, until - performance.now()))
  server.closeIdleConnections()
  upgrade.close()
  await gateway.close()
  server.closeAllConnections()
  await closed
}

function listen(server: Server, options: ServeOptions): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      const why = error.code === 'EADDRINUSE' ? 'the port is in use; set GATEWAY_PORT or --port' : error.message
      reject(new Error(`Cannot listen on ${options.host}:${options.port}: ${why}.`))
    })
    server.listen(options.port, options.host, 4096, () => resolve())
  })
}
