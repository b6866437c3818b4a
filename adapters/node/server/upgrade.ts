// Turns upgrade requests of a node:http server into sockets of the gateway. The library frames and pings; the gateway decides who may.
import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import type { NodeAdapter } from 'crossws/adapters/node'
import { envelope, GatewayError } from '../../../core/errors/gateway-error.ts'
import { answerHeaders } from '../../../core/http/answer-headers.ts'
import { mountPoint, withoutPrefix } from '../../../core/http/mount.ts'
import { requestId } from '../../../core/ids/ids.ts'
import { systemClock } from '../../../core/timing/clock.ts'
import type { Gateway } from '../../../core/types/gateway.ts'
import type { Clock } from '../../../core/types/ports/ports.ts'
import { ResponsesSocket, SOCKET_PATH, type SocketLine, type SocketOrigin } from '../../socket/responses-socket.ts'
import { nodeIngress, originForm } from './exchange.ts'
import { headerList } from './header-list.ts'
import { hostName } from './host-header.ts'
import type { NodeHandlerOptions } from './node-handler.ts'
import { UpgradeSink } from './upgrade-sink.ts'

/** A client that does not read is waited for above this number of bytes. */
const HIGH_WATER = 256 * 1024
const POLL_MS = 20
/** A message may hold images. */
const MAX_MESSAGE_BYTES = 64 << 20
/** A client that answers no ping in this time is gone, s. */
const IDLE_S = 60

export interface UpgradeOptions extends Pick<NodeHandlerOptions, 'peer' | 'prefix' | 'headers' | 'context'> {
  clock?: Clock
  /** Returns the host's own refusal of the request; null: the gateway decides. It sees the headers as received. */
  refusal?: (req: IncomingMessage) => GatewayError | null
}

export interface NodeUpgrade {
  /** For `server.on('upgrade', …)`. It answers every upgrade request that it gets. */
  (req: IncomingMessage, socket: Duplex, head: Buffer): void
  /** Closes each socket when its run has ended, and refuses new ones. */
  drain(): void
  /** Ends all sockets now. */
  close(): void
  /** Number of open sockets. */
  readonly size: number
}

/** Example: `server.on('upgrade', toNodeUpgrade(gateway, { prefix: '/llm' }))`. */
export function toNodeUpgrade(gateway: Gateway, options: UpgradeOptions = {}): NodeUpgrade {
  const { clock = systemClock, headers = ({ headers: given }) => given } = options
  const peer =
    options.peer ?? ((req) => ({ address: req.socket.remoteAddress ?? null, local: null, secure: 'encrypted' in req.socket }))
  const prefix = mountPoint(options.prefix ?? '')
  const sockets = new Map<object, ResponsesSocket>()
  let draining = false

  let adapter: NodeAdapter | undefined
  /** Loads the library with the first socket: it needs the web objects of Node. */
  const adapted = async (): Promise<NodeAdapter> => {
    const { default: nodeAdapter } = await import('crossws/adapters/node')
    if (adapter !== undefined) return adapter
    adapter = nodeAdapter({
      idleTimeout: IDLE_S,
      serverOptions: { maxPayload: MAX_MESSAGE_BYTES, perMessageDeflate: false, clientTracking: false },
      hooks: {
        open(connection) {
          const { origin } = connection.context as { origin: SocketOrigin }
          sockets.set(connection, new ResponsesSocket(gateway, clock, lineOf(connection), origin))
        },
        message: (connection, message) =>
          void sockets.get(connection)?.message(typeof message.rawData === 'string' ? message.rawData : null),
        close: (connection) => gone(connection),
        error: (connection) => gone(connection),
      },
    })
    return adapter
  }
  const gone = (connection: object): void => {
    sockets.get(connection)?.closed()
    sockets.delete(connection)
  }

  const upgrade = (req: IncomingMessage, socket: Duplex, head: Buffer): void => {
    socket.on('error', () => socket.destroy())
    const hostRefusal = options.refusal?.(req) ?? null
    req.rawHeaders = headerList(req, headers(req))
    const target = withoutPrefix(originForm(req.url ?? '/'), prefix)
    const { host } = req.headers
    const refusal = hostRefusal ?? refusalOf(host, draining)
    const from = peer(req)
    const context = options.context?.(req)
    const ingress = nodeIngress(req, target, from, { refusal, host: context, upgradePath: SOCKET_PATH })
    const sink = new UpgradeSink(socket)
    if (!gateway.owns(ingress.path)) return refuse(sink, GatewayError.unknownUrl('GET', ingress.path))
    void gateway.handle(ingress, sink).then(async () => {
      if (sink.status !== 101) return sink.finish()
      const origin: SocketOrigin = {
        headers: req.rawHeaders,
        query: ingress.query,
        peer: from,
        ...(context === undefined ? {} : { host: context }),
      }
      return (adapter ?? (await adapted())).handleUpgrade(req, socket, head, Object.assign(accepted(), { context: { origin } }))
    })
  }
  return Object.defineProperty(
    Object.assign(upgrade, {
      drain() {
        draining = true
        for (const socket of [...sockets.values()]) socket.drain()
      },
      close: () => adapter?.closeAll(1001, 'going away', true),
    }),
    'size',
    { get: () => sockets.size },
  ) as NodeUpgrade
}

function refusalOf(host: string | undefined, draining: boolean): GatewayError | null {
  if (host !== undefined && hostName(host) === null)
    return GatewayError.invalid(null, 'The header `host` is no host name with a port.')
  return draining ? GatewayError.unavailable('The server is going away.') : null
}

function refuse(sink: UpgradeSink, error: GatewayError): void {
  const headers = Object.entries(answerHeaders(requestId())).flat()
  sink.head(error.status, [...headers, 'content-type', 'application/json; charset=utf-8'])
  sink.end(JSON.stringify(envelope(error)))
  sink.finish()
}

/** The library asks its hooks about a web request; the gateway has answered already. */
function accepted(): Request {
  return new Request(`http://localhost${SOCKET_PATH}`)
}

interface Connection {
  readonly bufferedAmount: number
  send(text: string): unknown
  close(code: number, reason: string): void
  waitForDrain(options: { threshold: number; pollInterval: number }): Promise<void>
}

function lineOf(connection: Connection): SocketLine {
  return {
    send(text) {
      connection.send(text)
      return connection.bufferedAmount < HIGH_WATER
    },
    drained: () => connection.waitForDrain({ threshold: HIGH_WATER / 2, pollInterval: POLL_MS }),
    close: (code, reason) => connection.close(code, reason),
  }
}
