// Makes one upstream call of an operation: reads the whole answer, or hands its chunks on while they arrive.
import { GatewayError } from '../../errors/gateway-error.ts'
import { retryHint } from '../../errors/retry-hint.ts'
import { concatBytes } from '../../text/bytes.ts'
import type { Ticking } from '../../timing/ticker.ts'
import type { GatewayErrorShape } from '../../types/error.ts'
import type { UpstreamAnswer, UpstreamStreamAnswer } from '../../types/operations/operation.ts'
import type { HeaderBag, WireHandler, WireRequest } from '../../types/ports/ports.ts'
import type { RequestState } from '../context.ts'
import type { Runtime } from '../runtime.ts'
import { parseBody } from '../whole-answer.ts'
import { chunkQueue } from './chunk-queue.ts'

type DecodeError = (status: number, headers: HeaderBag, body: Uint8Array) => GatewayErrorShape

/** Limits of an answer and of an error body, bytes. */
const MAX_WHOLE_BYTES = 64 * 1024 * 1024
const MAX_ERROR_BYTES = 256 * 1024

/** @throws GatewayError for a status other than 2xx, a failed call, silence, and a body over 64 MiB. */
export function exchangeWhole(
  runtime: Runtime,
  ctx: RequestState,
  wire: WireRequest,
  decodeError: DecodeError,
): Promise<UpstreamAnswer> {
  return new Promise((resolve, reject) => {
    const chunks: Uint8Array[] = []
    let size = 0
    const call = new Call(runtime, ctx, reject, {
      data(chunk) {
        size += chunk.length
        if (size <= (call.ok ? MAX_WHOLE_BYTES : MAX_ERROR_BYTES)) chunks.push(chunk)
        else if (call.ok) call.fail(GatewayError.protocol('The upstream answer is larger than the limit.'))
        return undefined
      },
      end() {
        const bytes = concatBytes(chunks)
        const { status, headers } = call
        if (headers === null) return reject(GatewayError.protocol('The upstream sent an empty answer.'))
        if (!call.ok) return reject(refusal(status, headers, bytes, decodeError, runtime.clock.now()))
        resolve({ status, headers, bytes, json: () => parseBody(bytes) })
      },
    })
    call.send(wire)
  })
}

/** Resolves with the head of a 2xx answer. @throws as `exchangeWhole`. */
export function exchangeStream(
  runtime: Runtime,
  ctx: RequestState,
  wire: WireRequest,
  decodeError: DecodeError,
): Promise<UpstreamStreamAnswer> {
  return new Promise((resolve, reject) => {
    const failed: Uint8Array[] = []
    let size = 0
    const queue = chunkQueue()
    const call = new Call(
      runtime,
      ctx,
      (error) => {
        queue.fail(error)
        reject(error)
      },
      {
        head(headers) {
          if (!call.ok) return
          const cancel = () => call.fail(GatewayError.clientGone())
          resolve({ status: call.status, headers, chunks: queue.chunks(cancel), cancel })
        },
        data(chunk) {
          if (call.ok) return queue.push(chunk)
          size += chunk.length
          if (size <= MAX_ERROR_BYTES) failed.push(chunk)
          return undefined
        },
        end() {
          if (call.ok) return queue.end()
          const { status, headers } = call
          if (headers === null) return reject(GatewayError.protocol('The upstream sent an empty answer.'))
          reject(refusal(status, headers, concatBytes(failed), decodeError, runtime.clock.now()))
        },
      },
    )
    call.send(wire)
  })
}

function refusal(status: number, headers: HeaderBag, body: Uint8Array, decode: DecodeError, now: number): GatewayErrorShape {
  if (status >= 300 && status < 400) {
    const hint = 'which is not followed. Check the base URL of the connection.'
    return GatewayError.upstream(status, `The upstream answered with a redirect (${status}), ${hint}`)
  }
  const error = GatewayError.from(decode(status, headers, body))
  const retryAfterMs = error.retryAfterMs === null && error.upstream !== null ? retryHint(headers, body, now) : null
  return retryAfterMs === null ? error : error.with({ retryAfterMs })
}

interface Reader {
  head?(headers: HeaderBag): void
  data(chunk: Uint8Array): Promise<void> | undefined
  end(): void
}

/** The part that whole and streamed answers share: abort, silence, and one end. */
class Call implements WireHandler, Ticking {
  status = 0
  headers: HeaderBag | null = null
  readonly #runtime: Runtime
  readonly #ctx: RequestState
  readonly #reject: (error: GatewayErrorShape) => void
  readonly #reader: Reader
  #abort: (reason: GatewayErrorShape) => void = () => {}
  #unbind: () => void = () => {}
  #over = false
  #paused = false

  constructor(runtime: Runtime, ctx: RequestState, reject: (error: GatewayErrorShape) => void, reader: Reader) {
    this.#runtime = runtime
    this.#ctx = ctx
    this.#reject = reject
    this.#reader = reader
  }

  get ok(): boolean {
    return this.status >= 200 && this.status <= 299
  }

  send(wire: WireRequest): void {
    const { transport, ticker } = this.#runtime
    this.#seen()
    this.#ctx.upstreamHeaders = null
    const sent = transport.send(wire, this)
    this.#abort = (reason) => sent.abort(reason)
    if (this.#over) return
    const ticket = ticker.add(this)
    const off = this.#ctx.onStop((reason) => this.fail(reason))
    this.#unbind = () => {
      off()
      ticker.remove(ticket)
    }
    if (this.#over) this.#unbind()
  }

  tick(now: number): void {
    const { idleTimeoutMs } = this.#runtime.options
    if (!this.#paused && idleTimeoutMs > 0 && now - this.#ctx.lastReadAt >= idleTimeoutMs)
      this.fail(GatewayError.timeout(`The upstream was silent for ${idleTimeoutMs} ms.`))
  }

  head(status: number, headers: HeaderBag): void {
    this.#seen()
    this.status = status
    this.headers = headers
    this.#ctx.upstreamHeaders = headers
    this.#reader.head?.(headers)
  }

  data(chunk: Uint8Array): Promise<void> | undefined {
    this.#seen()
    if (this.#over) return undefined
    const waiting = this.#reader.data(chunk)
    if (waiting === undefined) return undefined
    // A reader that does not read is not a silent upstream.
    this.#paused = true
    return waiting.then(() => {
      this.#paused = false
      this.#seen()
    })
  }

  end(): void {
    if (this.#finish()) this.#reader.end()
  }

  error(error: GatewayErrorShape): void {
    if (this.#finish()) this.#reject(error)
  }

  /** Ends the call from this side. */
  fail(reason: GatewayErrorShape): void {
    if (!this.#finish()) return
    this.#abort(reason)
    this.#reject(reason)
  }

  #seen(): void {
    this.#ctx.lastReadAt = this.#runtime.clock.monotonic()
  }

  #finish(): boolean {
    if (this.#over) return false
    this.#over = true
    this.#unbind()
    return true
  }
}
