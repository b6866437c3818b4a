// The upstream transport on undici's dispatch: no fetch, no redirects, identity encoding, limited answers.
import type { Dispatcher } from 'undici/index.js'
import { GatewayError } from '../../core/errors/gateway-error.ts'
import { headerBag } from '../../core/http/headers.ts'
import { concatBytes } from '../../core/text/bytes.ts'
import { TurnQueue } from '../../core/timing/turn-queue.ts'
import type { GatewayErrorShape } from '../../core/types/error.ts'
import type { Transport, WireHandler, WireRequest } from '../../core/types/ports/ports.ts'
import { type Decompressor, decompressor } from './decompress.ts'
import { networkError } from './network-error.ts'
import { type PoolOptions, poolTable } from './pools.ts'

export interface UndiciTransportOptions extends PoolOptions {
  /** Limit of a whole answer, bytes; default 64 MiB. */
  maxResponseBytes?: number
}

/**
 * A larger body is written piece by piece instead of being joined: undici holds a body until the answer ends, and an answer may stream for
 * minutes.
 */
const COPY_BELOW = 32 * 1024
const MAX_RESPONSE = 64 * 1024 * 1024

export function undiciTransport(options: UndiciTransportOptions = {}): Transport {
  const pools = poolTable(options)
  const target = targets()
  const cap = options.maxResponseBytes ?? MAX_RESPONSE
  return {
    send(request, handler) {
      const exchange = new Exchange(request, handler, cap)
      try {
        const { origin, path } = target(request.url)
        const pool = pools.get(origin, request.proxyUrl, request.connectTimeoutMs)
        const { body, headers } = bodyOf(request)
        const options: Dispatcher.DispatchOptions = {
          origin,
          path,
          method: request.method as Dispatcher.HttpMethod,
          headers,
          body,
          reset: pools.keepsNone,
          // The ticker times idle upstreams. A SOCKS5 pool does not read these from its options.
          headersTimeout: 0,
          bodyTimeout: 0,
        }
        // It must not name the request: the function that aborts would hold it too, as long as a stream is open.
        const dispatch = (): unknown => pool.dispatch(options, exchange)
        // A body in pieces can be read once.
        if (body === null || body instanceof Uint8Array) exchange.resend = dispatch
        dispatch()
      } catch (error) {
        // undici refuses some requests synchronously (bad scheme, bad header value).
        exchange.onResponseError(null, error as Error)
      }
      return exchange
    },
    close: () => pools.close(),
  }
}

interface Target {
  readonly origin: string
  readonly path: string
}

/** Consecutive requests often have one address. Its parts stay the same strings, whose hashes are cached. */
function targets(): (url: string) => Target {
  let last = ''
  let target: Target = { origin: '', path: '/' }
  return (url) => {
    if (url === last) return target
    const slash = url.indexOf('/', url.indexOf('//') + 2)
    last = url
    target = slash === -1 ? { origin: url, path: '/' } : { origin: url.slice(0, slash), path: url.slice(slash) }
    return target
  }
}

type Body = Exclude<Dispatcher.DispatchOptions['body'], undefined>

function bodyOf({ body, headers, stream }: WireRequest): { body: Body; headers: string[] } {
  if (body === null || body.length === 0) return { body: null, headers }
  const total = body.reduce((sum, piece) => sum + piece.length, 0)
  if (total <= COPY_BELOW) return { body: (stream ? ownBytes(body, total) : concatBytes(body)) as Body, headers }
  return { body: sentOnce(body) as unknown as Body, headers: [...headers, 'content-length', String(total)] }
}

/** Node puts small buffers into one of 8 KB, and an open stream would hold all of that. */
function ownBytes(pieces: readonly Uint8Array[], total: number): Uint8Array {
  const bytes = Buffer.allocUnsafeSlow(total)
  let at = 0
  for (const piece of pieces) {
    bytes.set(piece, at)
    at += piece.length
  }
  return bytes
}

/** Lets go of each piece when it was taken. A generator would hold what it had at its last `yield`. */
function sentOnce(pieces: readonly Uint8Array[]): Iterable<Uint8Array> {
  const left = [...pieces]
  const next = (): IteratorResult<Uint8Array, undefined> => {
    const value = left.shift()
    return value === undefined ? { done: true, value } : { done: false, value }
  }
  return { [Symbol.iterator]: () => ({ next }) }
}

/** Answers whose last bytes came in this turn of the event loop. */
const ended = new TurnQueue<Exchange>((exchange) => exchange.finish())

/** Connections that failed before a request left, for one request. A pool whose peer restarted may hold many of them. */
const MOST_RESENDS = 8

class Exchange implements Dispatcher.DispatchHandler {
  /** Sends the request on another connection; null: it cannot be sent again. */
  resend: (() => unknown) | null = null
  #resends = 0
  readonly #handler: WireHandler
  readonly #stream: boolean
  readonly #proxied: boolean
  readonly #cap: number
  #controller: Dispatcher.DispatchController | null = null
  #aborted: GatewayErrorShape | null = null
  #decoder: Decompressor | null = null
  #headed = false
  #over = false
  #size = 0
  /** Pieces that came while the reader was busy; null: it is not. */
  #late: Uint8Array[] | null = null
  #endDue = false

  constructor(request: WireRequest, handler: WireHandler, cap: number) {
    this.#stream = request.stream
    this.#proxied = request.proxyUrl !== null
    this.#handler = handler
    this.#cap = cap
  }

  abort(reason: GatewayErrorShape): void {
    if (this.#over) return
    this.#over = true
    this.#aborted = reason
    this.#controller?.abort(reason)
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller
    if (this.#aborted !== null) controller.abort(this.#aborted)
  }

  onResponseStart(
    controller: Dispatcher.DispatchController,
    status: number,
    headers: Record<string, string | string[] | undefined>,
  ): void {
    // Informational responses (100, 102, 103) are not the answer.
    if (this.#over || status < 200) return
    this.#headed = true
    // An open stream would hold the request with it.
    this.resend = null
    // undici keeps the pieces of the head until the answer ends: more than 1 KB for each stream.
    controller.rawHeaders = null
    const encoding = headers['content-encoding']
    if (encoding !== undefined && encoding !== 'identity' && encoding !== '') {
      this.#decoder = decompressor(String(encoding), {
        data: (chunk) => this.#pass(chunk),
        end: () => this.finish(),
        error: (error) => this.#fail(error),
      })
    }
    // Most answers succeed, and their headers are not read.
    this.#handler.head(
      status,
      headerBag(() => flatten(headers)),
    )
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    // After a pause undici repeats the callback without bytes. A pause on that would repeat for ever.
    if (this.#over || chunk.length === 0) return
    if (this.#late !== null) return void this.#late.push(chunk)
    const wait = this.#take(chunk)
    if (wait === undefined) return
    controller.pause()
    void this.#resume(wait, controller)
  }

  onResponseEnd(): void {
    if (this.#late !== null) this.#endDue = true
    else if (this.#decoder !== null) this.#decoder.end()
    else ended.add(this)
  }

  /** A paused answer whose connection closes comes to its end all the same (paused-parser.ts). */
  async #resume(wait: Promise<void>, controller: Dispatcher.DispatchController): Promise<void> {
    const late: Uint8Array[] = []
    this.#late = late
    await wait
    for (let next = late.shift(); next !== undefined && !this.#over; next = late.shift()) await this.#take(next)
    this.#late = null
    if (this.#endDue) this.onResponseEnd()
    else controller.resume()
  }

  #take(chunk: Uint8Array): Promise<void> | undefined {
    return this.#decoder === null ? this.#pass(chunk) : this.#decoder.write(chunk)
  }

  onResponseError(_controller: unknown, error: Error & { unsent?: boolean }): void {
    if (this.#over) return
    if (error.unsent === true && this.resend !== null && this.#resends++ < MOST_RESENDS) return void this.resend()
    this.#over = true
    this.#handler.error(networkError(error, { headed: this.#headed, proxied: this.#proxied }))
  }

  #pass(chunk: Uint8Array): Promise<void> | undefined {
    if (this.#over) return undefined
    this.#size += chunk.length
    if (!this.#stream && this.#size > this.#cap) {
      this.#fail(GatewayError.protocol('The upstream answer is larger than the limit.'))
      return undefined
    }
    return this.#handler.data(chunk)
  }

  #fail(error: GatewayErrorShape): void {
    if (this.#over) return
    this.abort(error)
    this.#handler.error(error)
  }

  finish(): void {
    if (this.#over) return
    this.#over = true
    this.#handler.end()
  }
}

function flatten(headers: Record<string, string | string[] | undefined>): string[] {
  const list: string[] = []
  for (const name in headers) {
    const value = headers[name]
    if (typeof value === 'string') list.push(name, value)
    else if (value !== undefined) for (const one of value) list.push(name, one)
  }
  return list
}
