// `hookgate serve`: our own http.Server with its own limits and its own drain. srvx and h3 would cut open streams
// without an error frame (RELIABILITY 0.5).
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { GatewayError } from '../../core/errors/gateway-error.ts'
import type { HostedGateway } from '../../core/gateway.ts'
import type { Logger } from '../../core/types/ports.ts'
import { peerOf, peerRules } from './local-peer.ts'
import { refuse, toNodeHandler } from './node-handler.ts'

export interface ServeOptions {
  host: string
  /** 0 picks a free one. */
  port: number
  /** Host names answered to besides localhost and `host`. */
  publicUrl?: string | null
  /** Time running requests get after close() or SIGTERM, ms; default 30 s. */
  drainMs?: number
  log?: Logger
}

export interface RunningServer {
  readonly host: string
  readonly port: number
  readonly url: string
  readonly server: Server
  /** Drains: readiness 503, no new connections, running requests end or get their error frame. Idempotent. */
  close(): Promise<void>
}

const DRAIN_MS = 30_000

/** RELIABILITY §6. */
const LIMITS = {
  headersTimeout: 15_000,
  requestTimeout: 300_000,
  keepAliveTimeout: 75_000,
  connectionsCheckingInterval: 5000,
  maxHeaderSize: 16 * 1024,
  noDelay: true,
}

/** @throws Error when the address cannot be bound. */
export async function serve(gateway: HostedGateway, options: ServeOptions): Promise<RunningServer> {
  const rules = peerRules(options.host, options.publicUrl ?? null)
  const listener = toNodeHandler(gateway, { peer: (req) => peerOf(req, rules) })
  const server = createServer(LIMITS, listener)
  server.maxHeadersCount = 100
  server.maxConnections = 10_000
  server.on('checkContinue', (req, res) => checkContinue(gateway, req, res, listener))
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
    if (error.code === 'ECONNRESET' || !socket.writable) return
    socket.end(
      `HTTP/1.1 ${error.code === 'HPE_HEADER_OVERFLOW' ? '431 Request Header Fields Too Large' : '400 Bad Request'}\r\nconnection: close\r\n\r\n`,
    )
  })
  await listen(server, options)
  const address = server.address() as { address: string; port: number }
  let closing: Promise<void> | null = null
  return {
    host: options.host,
    port: address.port,
    url: `http://${options.host.includes(':') ? `[${options.host}]` : options.host}:${address.port}`,
    server,
    close() {
      closing ??= shutDown(gateway, server, options.drainMs ?? DRAIN_MS)
      return closing
    },
  }
}

async function shutDown(gateway: HostedGateway, server: Server, drainMs: number): Promise<void> {
  const closed = new Promise<void>((resolve) => server.close(() => resolve()))
  // Idle keep-alive connections end now, busy ones after their answer.
  server.closeIdleConnections()
  await gateway.drain(drainMs)
  server.closeIdleConnections()
  await gateway.close()
  server.closeAllConnections()
  await closed
}

/** `Expect: 100-continue` is answered only when the declared length fits the route (RELIABILITY D2). */
function checkContinue(
  gateway: HostedGateway,
  req: IncomingMessage,
  res: ServerResponse,
  listener: (req: IncomingMessage, res: ServerResponse) => void,
): void {
  const path = (req.url ?? '/').split('?', 1)[0] as string
  const limit = Math.max(
    0,
    ...gateway.routes.entries.filter((entry) => path.startsWith(entry.path.replace(/\*$/, ''))).map((entry) => entry.bodyLimit),
  )
  if (limit > 0 && Number(req.headers['content-length'] ?? 0) > limit) return refuse(res, GatewayError.tooLarge(limit))
  res.writeContinue()
  listener(req, res)
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
