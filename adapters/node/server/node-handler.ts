// Serves a gateway as a node:http request listener: the data plane on its fast path, everything else through srvx to the control app.
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http'
import { envelope, GatewayError } from '../../../core/errors/gateway-error.ts'
import { answerHeaders } from '../../../core/http/answer-headers.ts'
import { mountPoint, withoutPrefix } from '../../../core/http/mount.ts'
import { leftOut } from '../../../core/http/served.ts'
import { alreadyConsumed } from '../../../core/http/web-exchange.ts'
import { requestId } from '../../../core/ids/ids.ts'
import { TurnQueue } from '../../../core/timing/turn-queue.ts'
import type { Gateway } from '../../../core/types/gateway.ts'
import type { Ingress, Peer } from '../../../core/types/ports/ports.ts'
import type { HostContext, ServedParts } from '../../../core/types/request/host.ts'
import { headerLines, nodeIngress, originForm, SINGLE_HEADERS } from './exchange.ts'
import { headerList } from './header-list.ts'
import { hostName } from './host-header.ts'
import { NodeSink } from './node-sink.ts'

export type NodeListener = (req: IncomingMessage, res: ServerResponse) => void

export interface NodeHandlerOptions {
  /** Returns the peer; default: unknown, as if the embedding server did not say. */
  peer?: (req: IncomingMessage) => Peer
  /** Removed from the front of the path; express does so itself. */
  prefix?: string
  /**
   * Returns the headers for the gateway; default: the current `req.headers`, so that it does not see headers that a middleware removed.
   * Names may have any letter case; undefined leaves a header out.
   */
  headers?: (req: IncomingMessage) => IncomingHttpHeaders
  /** Plugins read it as `ctx.host`: the host's user, tenant, trace. */
  context?: (req: IncomingMessage) => HostContext
  /** Parts of the control plane that are served; the others answer 404. */
  serve?: ServedParts
  /** For a server's `checkContinue` event: `100 Continue` is sent when the body is read, not earlier. */
  expectContinue?: boolean
}

/**
 * For node:http, Express (`app.use('/llm', toNodeHandler(gateway))`) and other connect-style servers. Mount it before any body parser, on
 * its own path: it answers 404 to unknown paths and never calls the next handler.
 */
export function toNodeHandler(gateway: Gateway, options: NodeHandlerOptions = {}): NodeListener {
  const { headers = ({ headers }) => headers } = options
  const listener = nodeListener(gateway, options)
  return (req, res) => {
    req.rawHeaders = headerList(req, headers(req))
    listener(req, res)
  }
}

interface OwnServerOptions extends NodeHandlerOptions {
  /**
   * Requests of one turn of the event loop start together at its end. Only for a server of the gateway's own: they start outside the
   * asynchronous context of the host.
   */
  together?: boolean
}

/** Uses the headers as received: for a server without middleware. */
export function nodeListener(gateway: Gateway, options: OwnServerOptions = {}): NodeListener {
  const { peer = unknownPeer, expectContinue = false, together = false, context } = options
  const start = ([ingress, sink]: Arrival): void => {
    void gateway.handle(ingress, sink).then(() => sink.release())
  }
  const arrivals = together ? new TurnQueue(start) : { add: start }
  const prefix = mountPoint(options.prefix ?? '')
  const at = { mount: prefix, pages: options.serve?.dashboard !== false }
  /** Nearly all clients send the same name. */
  let known = 'localhost'
  const refusedHost = ({ headers: { host } }: IncomingMessage): GatewayError | null => {
    if (host === undefined || host === known) return null
    if (hostName(host) === null) return GatewayError.invalid(null, 'The header `host` is no host name with a port.')
    known = host
    return null
  }
  return (req, res) => {
    const target = withoutPrefix(originForm(req.url ?? '/'), prefix)
    const from = peer(req)
    const goOn = expectContinue ? () => res.writeContinue() : undefined
    if (gateway.owns(pathOf(target))) {
      const sink = new NodeSink(req, res)
      const ingress = nodeIngress(req, target, from, { beforeBody: goOn, refusal: refusedHost(req), host: context?.(req) })
      arrivals.add([ingress, sink])
      return
    }
    const duplicate = duplicatedHeader(req)
    if (duplicate !== null) return refuse(res, GatewayError.invalid(null, `The header \`${duplicate}\` is sent twice.`))
    const refused = refusedHost(req)
    if (refused !== null) return refuse(res, refused)
    if (DOTS.test(pathOf(target)) || leftOut(pathOf(target), options.serve))
      return refuse(res, GatewayError.unknownUrl(req.method ?? '', pathOf(target)))
    if (req.readableEnded && hasBody(req)) return refuse(res, alreadyConsumed())
    if (goOn !== undefined) continueWhenRead(req, res, goOn)
    // srvx reads req.url, so set it to the target without authority and prefix.
    req.url = target
    void srvx().then(({ toNodeHandler: webHandler }) =>
      webHandler((request: Request) => gateway.control.fetch(request, from, at))(req as never, res as never),
    )
  }
}

type Arrival = readonly [ingress: Ingress, sink: NodeSink]

let loading: Promise<typeof import('srvx/node')> | undefined

/** Loaded with the first call of the control plane: it needs the web objects of Node, which the data plane does without. */
function srvx(): Promise<typeof import('srvx/node')> {
  loading ??= import('srvx/node')
  return loading
}

function hasBody({ headers }: IncomingMessage): boolean {
  return Number(headers['content-length'] ?? 0) > 0 || headers['transfer-encoding'] !== undefined
}

/** A URL parser changes a path with dot segments: `/health/../api/keys` would bypass a proxy that blocks `/api/`. */
const DOTS = /\/(?:\.|%2e){1,2}(?:\/|$)/i

/** A refused client has not sent its body, so the next bytes of the connection are ambiguous: close it. */
function continueWhenRead(req: IncomingMessage, res: ServerResponse, goOn: () => void): void {
  const asked = res.shouldKeepAlive
  res.shouldKeepAlive = false
  req.once('resume', () => {
    if (res.headersSent) return
    res.shouldKeepAlive = asked
    goOn()
  })
}

function unknownPeer(req: IncomingMessage): Peer {
  return { address: req.socket.remoteAddress ?? null, local: null, secure: 'encrypted' in req.socket }
}

function pathOf(target: string): string {
  const mark = target.indexOf('?')
  return mark === -1 ? target : target.slice(0, mark)
}

/** A repeated credential or Host is an attack or a bug. */
function duplicatedHeader(req: IncomingMessage): string | null {
  return SINGLE_HEADERS.find((name) => headerLines(req, name) > 1) ?? null
}

export function refuse(res: ServerResponse, error: GatewayError): void {
  const headers = { ...answerHeaders(requestId()), 'content-type': 'application/json; charset=utf-8', connection: 'close' }
  res.writeHead(error.status, headers)
  res.end(JSON.stringify(envelope(error)))
}
