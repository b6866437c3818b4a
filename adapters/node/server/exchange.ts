// Turns a request of node:http into an Ingress: the fast path of the data plane, without Request, Response or web streams.
import type { IncomingMessage } from 'node:http'
import { GatewayError } from '../../../core/errors/gateway-error.ts'
import { headerBag } from '../../../core/http/headers.ts'
import { alreadyConsumed, refuseEncoded } from '../../../core/http/web-exchange.ts'
import { GatheredBytes } from '../../../core/text/gathered-bytes.ts'
import type { GatewayErrorShape } from '../../../core/types/error.ts'
import type { BodyMeter, HeaderBag, Ingress, Peer } from '../../../core/types/ports/ports.ts'
import type { HostContext } from '../../../core/types/request/host.ts'

/** A request of node:http. It is held as long as its answer, so it has no closures. */
class NodeIngress implements Ingress {
  readonly method: string
  readonly path: string
  readonly query: string
  readonly headers: HeaderBag
  readonly peer: Peer
  readonly host: HostContext | undefined
  readonly refusal: GatewayError | null
  readonly upgradable: boolean
  readonly #req: IncomingMessage
  readonly #beforeBody: () => void

  constructor(req: IncomingMessage, target: string, peer: Peer, options: IngressOptions) {
    const mark = target.indexOf('?')
    this.method = req.method ?? 'GET'
    this.path = mark === -1 ? target : target.slice(0, mark)
    this.query = mark === -1 ? '' : target.slice(mark + 1)
    this.headers = headerBag(req.rawHeaders)
    this.peer = peer
    this.host = options.host
    this.refusal = options.refusal ?? null
    this.upgradable = options.upgradePath !== undefined && this.path === options.upgradePath
    this.#req = req
    this.#beforeBody = options.beforeBody ?? nothing
  }

  received(limit: number): Uint8Array | null {
    return receivedBody(this.#req, limit, this.#beforeBody)
  }

  body(limit: number, meter?: BodyMeter): Promise<Uint8Array> {
    return readBody(this.#req, limit, meter, this.#beforeBody)
  }

  chunks(limit: number, meter?: BodyMeter): AsyncIterable<Uint8Array> {
    return readChunks(this.#req, limit, meter, this.#beforeBody)
  }
}

export interface IngressOptions {
  /** Runs before the body is read, after its declared length was accepted. */
  beforeBody?: (() => void) | undefined
  refusal?: GatewayError | null
  host?: HostContext | undefined
  /** Path whose exchanges the host turns into WebSockets. */
  upgradePath?: string
}

/** `path` and `query` are without the mount prefix; an absolute-form target is reduced to its path. */
export function nodeIngress(req: IncomingMessage, target: string, peer: Peer, options: IngressOptions = {}): Ingress {
  return new NodeIngress(req, target, peer, options)
}

function nothing(): void {}

/** Returns `/v1/x?q` for `http://host/v1/x?q` and for the plain path. */
export function originForm(url: string): string {
  if (url.startsWith('/')) return url
  const scheme = url.indexOf('://')
  const slash = scheme === -1 ? -1 : url.indexOf('/', scheme + 3)
  return slash === -1 ? '/' : url.slice(slash)
}

/** A request with two of one of these headers is refused. */
export const SINGLE_HEADERS = ['host', 'authorization', 'x-api-key']

/** Returns how often a header was sent; node:http keeps only the first Host. */
export function headerLines(req: IncomingMessage, name: string): number {
  let lines = 0
  const { rawHeaders } = req
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const given = rawHeaders[i] as string
    if (given.length === name.length && given.toLowerCase() === name) lines++
  }
  return lines
}

const NOTHING = new Uint8Array(0)

function receivedBody(req: IncomingMessage, limit: number, beforeBody: () => void): Uint8Array | null {
  if (!req.complete || req.destroyed) return null
  const refusal = refuseEarly(req, limit)
  if (refusal !== null) throw refusal
  beforeBody()
  const whole = (req.read() as Buffer | null) ?? NOTHING
  if (whole.length > limit) throw GatewayError.tooLarge(limit)
  return whole
}

function readBody(
  req: IncomingMessage,
  limit: number,
  meter: BodyMeter | undefined,
  beforeBody: () => void,
): Promise<Uint8Array> {
  return new Promise((resolve, reject) => {
    const refusal = refuseEarly(req, limit)
    if (refusal !== null) return reject(refusal)
    // A client that is gone sends no further event.
    if (req.destroyed) return reject(GatewayError.clientGone())
    beforeBody()
    if (req.complete) {
      const whole = (req.read() as Buffer | null) ?? NOTHING
      const refused = whole.length > limit ? GatewayError.tooLarge(limit) : (meter?.take(whole.length) ?? null)
      return refused === null ? resolve(whole) : reject(refused)
    }
    const giveUp = (error: GatewayErrorShape): void => {
      body.clear()
      req.removeAllListeners('data')
      req.pause()
      reject(error)
    }
    meter?.onRefused(giveUp)
    const body = new GatheredBytes(Number(req.headers['content-length'] ?? 0))
    let size = 0
    req.on('data', (chunk: Buffer) => {
      size += chunk.length
      if (size > limit) return giveUp(GatewayError.tooLarge(limit))
      const refused = meter?.take(chunk.length) ?? null
      if (refused === null) body.add(chunk)
      else giveUp(refused)
    })
    // on(), not once(): once() wraps each listener, and a promise settles only once anyway.
    req.on('end', () => {
      resolve(body.bytes())
      // The listeners live as long as the answer, and a stream is long: they must not hold a second copy of the body.
      body.clear()
    })
    req.on('error', () => reject(GatewayError.clientGone()))
    req.on('close', () => {
      if (!req.complete) reject(GatewayError.clientGone())
    })
  })
}

async function* readChunks(
  req: IncomingMessage,
  limit: number,
  meter: BodyMeter | undefined,
  beforeBody: () => void,
): AsyncIterable<Uint8Array> {
  const refusal = refuseEarly(req, limit)
  if (refusal !== null) throw refusal
  beforeBody()
  let size = 0
  let refused: GatewayErrorShape | null = null
  meter?.onRefused((error) => {
    refused = error
    req.destroy(GatewayError.from(error))
  })
  try {
    for await (const chunk of req as AsyncIterable<Buffer>) {
      size += chunk.length
      if (size > limit) throw GatewayError.tooLarge(limit)
      const over = meter?.take(chunk.length) ?? null
      if (over !== null) throw over
      yield chunk
    }
  } catch (error) {
    if (refused !== null) throw GatewayError.from(refused)
    throw GatewayError.is(error) ? error : GatewayError.clientGone()
  }
}

function refuseEarly(req: IncomingMessage, limit: number): GatewayError | null {
  try {
    refuseEncoded(req.headers['content-encoding'])
  } catch (error) {
    return error as GatewayError
  }
  if (Number(req.headers['content-length'] ?? 0) > limit) return GatewayError.tooLarge(limit)
  if (req.readableEnded || (req.complete && req.readableLength === 0 && Number(req.headers['content-length'] ?? 0) > 0))
    return alreadyConsumed()
  return null
}
