// Turns node:http into an Ingress and a Sink: the fast path of the data plane, without Request, Response or web streams.
import { type IncomingMessage, ServerResponse } from 'node:http'
import { GatewayError } from '../../core/errors/gateway-error.ts'
import { headerBag } from '../../core/http/headers.ts'
import { alreadyConsumed, refuseEncoded } from '../../core/http/web-exchange.ts'
import type { GatewayErrorShape } from '../../core/types/error.ts'
import type { HostContext } from '../../core/types/host.ts'
import type { BodyMeter, Ingress, Peer, Sink } from '../../core/types/ports.ts'

/**
 * `path` and `query` are without the mount prefix; an absolute-form target is reduced to its path. `beforeBody` runs before the body is
 * read, after its declared length was accepted.
 */
export function nodeIngress(
  req: IncomingMessage,
  target: string,
  peer: Peer,
  beforeBody: () => void = () => {},
  refusal: GatewayError | null = null,
  host: HostContext | undefined = undefined,
): Ingress {
  const mark = target.indexOf('?')
  return {
    method: req.method ?? 'GET',
    path: mark === -1 ? target : target.slice(0, mark),
    query: mark === -1 ? '' : target.slice(mark + 1),
    headers: headerBag(req.rawHeaders),
    peer,
    ...(host === undefined ? undefined : { host }),
    refusal,
    body: (limit, meter) => readBody(req, limit, meter, beforeBody),
    chunks: (limit, meter) => readChunks(req, limit, meter, beforeBody),
  }
}

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

function readBody(
  req: IncomingMessage,
  limit: number,
  meter: BodyMeter | undefined,
  beforeBody: () => void,
): Promise<Uint8Array> {
  return new Promise((resolve, reject) => {
    const refusal = refuseEarly(req, limit)
    if (refusal !== null) return reject(refusal)
    beforeBody()
    const giveUp = (error: GatewayErrorShape): void => {
      chunks.length = 0
      req.removeAllListeners('data')
      req.pause()
      reject(error)
    }
    meter?.onRefused(giveUp)
    const chunks: Buffer[] = []
    let size = 0
    req.on('data', (chunk: Buffer) => {
      size += chunk.length
      if (size > limit) return giveUp(GatewayError.tooLarge(limit))
      const refused = meter?.take(chunk.length) ?? null
      if (refused === null) chunks.push(chunk)
      else giveUp(refused)
    })
    // on(), not once(): once() wraps each listener, and a promise settles only once anyway.
    req.on('end', () => resolve(chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks)))
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

/** Bytes of a body that node:http may read and drop after a refusal, to keep the connection for the next request. */
const DROPPED_BODY = 65_536

/**
 * A refusal that closes the connection makes the caller dial again, and a busy process accepts few new connections. Under overload the
 * refused callers would then wait longer than the accepted ones.
 */
function hasShortBody({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] === undefined && Number(headers['content-length'] ?? 0) <= DROPPED_BODY
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

const WRITE_HEAD = ServerResponse.prototype.writeHead

/** A Sink over ServerResponse. `end` without `write` is sent in one segment with a content-length. */
export class NodeSink implements Sink {
  readonly #res: ServerResponse
  readonly #req: IncomingMessage
  /** The head waits for the first byte: only then it is known whether the length is known. */
  #head: { status: number; headers: readonly string[] } | null = null
  #ended = false
  #gone = false
  #leave: (() => void) | null = null
  #drain: Promise<void> | null = null

  constructor(req: IncomingMessage, res: ServerResponse) {
    this.#req = req
    this.#res = res
    res.on('close', this.#onClose)
  }

  get gone(): boolean {
    return this.#gone
  }

  head(status: number, headers: readonly string[]): void {
    this.#head = { status, headers }
  }

  write(chunk: Uint8Array | string): boolean {
    if (this.#gone) return true
    this.#sendHead(null)
    if (this.#res.write(chunk)) return true
    this.#drain ??= this.#untilDrained()
    return false
  }

  drained(): Promise<void> | undefined {
    return this.#gone ? undefined : (this.#drain ?? undefined)
  }

  /** The wait begins with the write that filled the buffer: a middleware has its own buffer, which the response does not know. */
  #untilDrained(): Promise<void> {
    return new Promise((resolve) => {
      const done = (): void => {
        this.#drain = null
        this.#res.removeListener('drain', done)
        this.#res.removeListener('close', done)
        resolve()
      }
      this.#res.on('drain', done)
      this.#res.on('close', done)
    })
  }

  end(chunk?: Uint8Array | string): void {
    if (this.#ended) return
    this.#ended = true
    if (this.#gone) return
    this.#sendHead(typeof chunk === 'string' ? Buffer.byteLength(chunk) : (chunk?.length ?? 0))
    if (chunk !== undefined && chunk.length > 0) this.#res.end(chunk)
    else this.#res.end()
  }

  /**
   * Ends the exchange. When it was aborted, there is no orderly end, so the connection is closed. The response does not show whether
   * there was an end: a middleware may end it later.
   */
  release(): void {
    if (!this.#ended && !this.#gone) this.#res.destroy()
  }

  onGone(fn: () => void): void {
    this.#leave = fn
    if (this.#gone) fn()
  }

  #sendHead(length: number | null): void {
    if (this.#head === null) return
    const { status, headers } = this.#head
    this.#head = null
    const list = [...headers]
    if (length !== null && status !== 204 && status !== 304) list.push('content-length', String(length))
    if (!this.#req.complete && !hasShortBody(this.#req)) list.push('connection', 'close')
    if (this.#res.writeHead === WRITE_HEAD) this.#res.writeHead(status, list)
    else this.#setHead(status, list)
  }

  /** For a middleware that replaced `writeHead`: some of them do not support a flat list. */
  #setHead(status: number, list: readonly string[]): void {
    const seen = new Set<string>()
    for (let i = 0; i < list.length; i += 2) {
      const name = list[i] as string
      if (seen.has(name)) this.#res.appendHeader(name, list[i + 1] as string)
      else this.#res.setHeader(name, list[i + 1] as string)
      seen.add(name)
    }
    this.#res.writeHead(status)
  }

  readonly #onClose = (): void => {
    if (this.#ended || this.#gone) return
    this.#gone = true
    this.#leave?.()
  }
}
