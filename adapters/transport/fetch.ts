// The upstream transport on fetch(), for runtimes without sockets of their own: no redirects, limited answers. It has no outbound proxies
// and no connect timeout, and it never marks a failure as safe to resend, because fetch() does not tell why a connection ended.
import { GatewayError } from '../../core/errors/gateway-error.ts'
import { headerBag } from '../../core/http/headers.ts'
import { concatBytes } from '../../core/text/bytes.ts'
import type { GatewayErrorShape } from '../../core/types/error.ts'
import type { Transport, WireHandler, WireRequest } from '../../core/types/ports/ports.ts'

export interface FetchTransportOptions {
  /** Default: the global one. */
  fetch?: typeof globalThis.fetch
  /** Limit of a whole answer, bytes; default 64 MiB. */
  maxResponseBytes?: number
}

const MAX_RESPONSE = 64 * 1024 * 1024

export function fetchTransport(options: FetchTransportOptions = {}): Transport {
  // Read once and called without a receiver: Workers refuse it as a method of another object.
  const send = options.fetch ?? globalThis.fetch
  const cap = options.maxResponseBytes ?? MAX_RESPONSE
  return {
    send(request, handler) {
      const exchange = new FetchExchange(handler, request.stream ? Number.POSITIVE_INFINITY : cap)
      void exchange.run(request, send)
      return { abort: (reason) => exchange.abort(reason) }
    },
    async close() {},
  }
}

class FetchExchange {
  readonly #handler: WireHandler
  readonly #cap: number
  readonly #controller = new AbortController()
  #headed = false
  #over = false

  constructor(handler: WireHandler, cap: number) {
    this.#handler = handler
    this.#cap = cap
  }

  abort(reason: GatewayErrorShape): void {
    if (this.#over) return
    this.#over = true
    this.#controller.abort(reason)
  }

  async run(request: WireRequest, send: typeof globalThis.fetch): Promise<void> {
    try {
      if (request.proxyUrl !== null) {
        await Promise.resolve() // send() returns before the handler is called.
        throw GatewayError.network('proxy', 'This runtime has no outbound proxies: remove the proxy of the connection.')
      }
      const answer = await send(request.url, {
        method: request.method,
        headers: pairs(request.headers),
        body: bodyOf(request),
        redirect: 'manual',
        signal: this.#controller.signal,
      })
      if (this.#over) return
      this.#headed = true
      this.#handler.head(
        answer.status,
        headerBag(() => [...answer.headers].flat()),
      )
      if (answer.body !== null) await this.#read(answer.body.getReader())
      if (this.#over) return
      this.#over = true
      this.#handler.end()
    } catch (error) {
      this.#fail(error)
    }
  }

  async #read(reader: ReadableStreamDefaultReader<Uint8Array>): Promise<void> {
    let size = 0
    for (;;) {
      const { done, value } = await reader.read()
      if (done || this.#over) return
      size += value.length
      if (size > this.#cap) {
        this.#fail(GatewayError.protocol('The upstream answer is larger than the limit.'))
        this.#controller.abort()
        return
      }
      const wait = this.#handler.data(value)
      if (wait !== undefined) await wait
    }
  }

  #fail(error: unknown): void {
    if (this.#over) return
    this.#over = true
    this.#handler.error(this.#named(error))
  }

  #named(error: unknown): GatewayErrorShape {
    if (GatewayError.is(error)) return error
    return this.#headed
      ? GatewayError.network('reset', 'The upstream closed the connection before its answer was complete.', { cause: error })
      : GatewayError.network('connect', 'The upstream could not be reached.', { cause: error })
  }
}

/** fetch() writes these itself and refuses, or doubles, a value of ours. */
const OWN = new Set(['connection', 'content-length', 'host', 'transfer-encoding'])

function pairs(flat: readonly string[]): [string, string][] {
  const list: [string, string][] = []
  for (let at = 0; at + 1 < flat.length; at += 2) {
    const name = flat[at] as string
    if (!OWN.has(name.toLowerCase())) list.push([name, flat[at + 1] as string])
  }
  return list
}

function bodyOf({ body }: WireRequest): BodyInit | null {
  if (body === null || body.length === 0) return null
  return (body.length === 1 ? body[0] : concatBytes(body)) as BodyInit
}
