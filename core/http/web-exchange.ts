// Turns fetch(Request) into an Ingress and a Sink over web objects, for servers other than our own Node host.
import { GatewayError } from '../errors/gateway-error.ts'
import { concatBytes, encodeUtf8 } from '../text/bytes.ts'
import type { GatewayErrorShape } from '../types/error.ts'
import type { BodyMeter, Ingress, Peer, Sink } from '../types/ports/ports.ts'
import type { HostContext } from '../types/request/host.ts'
import { headerBag } from './headers.ts'

export const UNKNOWN_PEER: Peer = { address: null, local: null, secure: false }

/** Returns only the members of a peer. Other runtimes pass their own second argument to a fetch handler. */
export function judgedPeer(given: Partial<Peer> | null | undefined): Peer {
  const { address, local, secure } = given ?? {}
  return {
    address: typeof address === 'string' ? address : UNKNOWN_PEER.address,
    local: typeof local === 'boolean' ? local : UNKNOWN_PEER.local,
    secure: secure === true,
  }
}

/** @param path without the mount prefix; `query` without `?` */
export function webIngress(request: Request, path: string, query: string, peer: Peer, host: HostContext | undefined): Ingress {
  const list: string[] = []
  request.headers.forEach((value, name) => {
    list.push(name, value)
  })
  return {
    method: request.method,
    path,
    query,
    headers: headerBag(list),
    peer,
    ...(host === undefined ? {} : { host }),
    body: (limit, meter) => webBody(request, limit, meter),
    chunks: (limit, meter) => readChunks(request, limit, meter),
  }
}

/** Reads the body. @throws GatewayError: over the limit 413, content-encoding 415, client gone 499. */
export async function webBody(request: Request, limit: number, meter?: BodyMeter): Promise<Uint8Array> {
  const chunks: Uint8Array[] = []
  for await (const chunk of readChunks(request, limit, meter)) chunks.push(chunk)
  return chunks.length === 0 ? new Uint8Array(0) : concatBytes(chunks)
}

async function* readChunks(request: Request, limit: number, meter?: BodyMeter): AsyncIterable<Uint8Array> {
  refuseEncoded(request.headers.get('content-encoding'))
  if (Number(request.headers.get('content-length') ?? 0) > limit) throw GatewayError.tooLarge(limit)
  if (request.bodyUsed || request.body?.locked) throw alreadyConsumed()
  const reader = request.body?.getReader()
  if (reader === undefined) return
  // Some runtimes do not end the body of an aborted request.
  const left = (): void => void reader.cancel(GatewayError.clientGone()).catch(() => {})
  const { signal } = request
  if (signal.aborted) left()
  signal.addEventListener('abort', left, { once: true })
  let size = 0
  let refused: GatewayErrorShape | null = null
  meter?.onRefused((error) => {
    refused = error
    void reader.cancel(error).catch(() => {})
  })
  try {
    for (;;) {
      const { done, value } = await reader.read().catch(() => {
        throw GatewayError.clientGone()
      })
      if (signal.aborted) throw GatewayError.clientGone()
      if (refused !== null) throw refused
      if (done) return
      if (!(value instanceof Uint8Array)) throw GatewayError.invalid(null, 'The body must be a stream of bytes.')
      size += value.length
      if (size > limit) throw GatewayError.tooLarge(limit)
      refused = meter?.take(value.length) ?? null
      if (refused !== null) throw refused
      yield value
    }
  } finally {
    signal.removeEventListener('abort', left)
    reader.releaseLock()
  }
}

/** @throws GatewayError 415: compressed request bodies are not supported. */
export function refuseEncoded(encoding: string | null | undefined): void {
  if (!encoding || encoding.toLowerCase() === 'identity') return
  throw new GatewayError('Compressed request bodies are not accepted; send the body without content-encoding.', {
    status: 415,
    type: 'invalid_request_error',
    code: 'unsupported_content_encoding',
  })
}

export function alreadyConsumed(): GatewayError {
  return new GatewayError('The request body has been read already: mount the gateway before the body parser.', {
    status: 500,
    type: 'api_error',
  })
}

const HIGH_WATER = 64 * 1024

/** Returns a Sink whose head resolves a Response. `end` without `write` gives a plain body; otherwise the reader pulls a stream. */
export function webSink(signal: AbortSignal): { sink: Sink; response: Promise<Response>; release(): void } {
  let resolve: (response: Response) => void = () => {}
  const response = new Promise<Response>((done) => {
    resolve = done
  })
  let head: { status: number; headers: Headers } | null = null
  let controller: ReadableStreamDefaultController<Uint8Array> | null = null
  let pulled: (() => void) | null = null
  let waiting: Promise<void> | null = null
  let gone = signal.aborted
  let ended = false
  let leave: (() => void) | null = null

  const left = (): void => {
    if (gone || ended) return
    gone = true
    pulled?.()
    // Without this, a pending read of an aborted request's body would never settle.
    controller?.error(GatewayError.clientGone())
    leave?.()
  }
  signal.addEventListener('abort', left, { once: true })

  const stream = (): ReadableStreamDefaultController<Uint8Array> => {
    if (controller !== null) return controller
    const body = new ReadableStream<Uint8Array>(
      {
        start: (made) => {
          controller = made
        },
        pull: () => {
          pulled?.()
          pulled = waiting = null
        },
        cancel: left,
      },
      { highWaterMark: HIGH_WATER, size: (chunk) => chunk.length },
    )
    resolve(new Response(body, head ?? { status: 200 }))
    return controller as unknown as ReadableStreamDefaultController<Uint8Array>
  }

  const sink: Sink = {
    head(status, headers) {
      const bag = new Headers()
      for (let i = 0; i < headers.length; i += 2) bag.append(headers[i] as string, headers[i + 1] as string)
      head = { status, headers: bag }
    },
    write(chunk) {
      if (gone) return true
      const to = stream()
      to.enqueue(typeof chunk === 'string' ? encodeUtf8(chunk) : chunk)
      return (to.desiredSize ?? 1) > 0
    },
    drained() {
      if (gone || controller === null || (controller.desiredSize ?? 1) > 0) return undefined
      waiting ??= new Promise((done) => {
        pulled = done
      })
      return waiting
    },
    end(chunk) {
      if (ended) return
      ended = true
      signal.removeEventListener('abort', left)
      if (controller === null) {
        const nullBody = head !== null && (head.status === 204 || head.status === 304)
        return resolve(new Response(nullBody ? null : ((chunk ?? '') as BodyInit), head ?? { status: 499 }))
      }
      if (gone) return
      if (chunk !== undefined && chunk.length > 0) controller.enqueue(typeof chunk === 'string' ? encodeUtf8(chunk) : chunk)
      controller.close()
    },
    get gone() {
      return gone
    },
    onGone(fn) {
      leave = fn
      if (gone) fn()
    },
  }
  /** Ends the exchange. A stream that was not ended is cut. */
  const release = (): void => {
    if (ended || controller === null || gone) return sink.end()
    ended = true
    signal.removeEventListener('abort', left)
    controller.error(GatewayError.protocol('The answer was cut.'))
  }
  return { sink, response, release }
}
