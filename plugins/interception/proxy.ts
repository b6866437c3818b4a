// The TLS server on the loopback address: it has a certificate for each intercepted host, and refuses every other name.
import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer, type Server } from 'node:https'
import type { AddressInfo } from 'node:net'
import { createSecureContext, type TLSSocket } from 'node:tls'
import { GatewayError } from '../../core/errors/gateway-error.ts'
import type { Authority } from './authority.ts'
import { type Conversion, convert } from './convert.ts'
import type { InterceptedHost } from './options.ts'
import { passThrough, refuse } from './pass-through.ts'
import { inferenceOf } from './table.ts'

export interface RunningProxy {
  readonly port: number
  close(): Promise<void>
}

export interface ProxyOptions {
  readonly port: number
  readonly hosts: readonly InterceptedHost[]
  readonly authority: Authority
  conversion(entry: InterceptedHost): Conversion
}

const HOST = '127.0.0.1'
const LIMITS = { headersTimeout: 15_000, requestTimeout: 600_000, maxHeaderSize: 64 << 10 }

/** @throws Error when the port cannot be bound. */
export async function openProxy({ port, hosts, authority, conversion }: ProxyOptions): Promise<RunningProxy> {
  const table = new Map(hosts.map((entry) => [entry.host, entry]))
  const real = passThrough()
  const entryOf = ({ socket, headers }: IncomingMessage): InterceptedHost | null => {
    const name = (socket as TLSSocket).servername
    // Another name in `host` would use this certificate for a host that is not intercepted.
    const asked = headers.host?.toLowerCase().replace(/:\d+$/, '')
    return typeof name === 'string' && asked === name.toLowerCase() ? (table.get(asked) ?? null) : null
  }
  const serve = (req: IncomingMessage, res: ServerResponse): void => {
    const entry = entryOf(req)
    if (entry === null) return refuse(res, misdirected())
    const inference = inferenceOf(entry, req.method ?? '', req.url ?? '')
    if (inference === null) return void real.request(entry, req, res)
    convert(req, res, inference, conversion(entry)).catch((error: unknown) =>
      res.headersSent ? res.destroy() : refuse(res, GatewayError.from(error)),
    )
  }
  const server = createServer(
    {
      ...LIMITS,
      minVersion: 'TLSv1.2',
      ALPNProtocols: ['http/1.1'],
      SNICallback(name, done) {
        const entry = table.get(name.toLowerCase())
        if (entry === undefined) return done(new Error('no intercepted host'))
        authority.leaf(entry.host).then(
          (leaf) => done(null, createSecureContext(leaf)),
          (error: Error) => done(error),
        )
      },
    },
    serve,
  )
  // Headers above a limit would be dropped without a word.
  server.maxHeadersCount = 0
  server.on('checkContinue', (req: IncomingMessage, res: ServerResponse) => {
    const entry = entryOf(req)
    // The real host decides about the body of its own request.
    if (entry !== null && inferenceOf(entry, req.method ?? '', req.url ?? '') !== null) res.writeContinue()
    serve(req, res)
  })
  server.on('upgrade', (req, socket, head) => {
    const entry = entryOf(req)
    if (entry === null) socket.destroy()
    else void real.upgrade(entry, req, socket, head)
  })
  server.on('tlsClientError', (_error, socket) => socket.destroy())
  await listen(server, port)
  return {
    port: (server.address() as AddressInfo).port,
    async close() {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()))
      server.closeAllConnections()
      real.close()
      await closed
    },
  }
}

function misdirected(): GatewayError {
  return new GatewayError('The host of this request is not the one that the connection was opened for.', {
    status: 421,
    type: 'invalid_request_error',
    code: 'misdirected_request',
  })
}

function listen(server: Server, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) =>
      reject(
        new Error(
          `The interception proxy cannot listen on ${HOST}:${port}: ${error.code ?? error.message}. Set GATEWAY_MITM_PORT.`,
        ),
      ),
    )
    server.listen(port, HOST, resolve)
  })
}
